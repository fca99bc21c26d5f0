"""Keeping tables fast while they grow: few files, few snapshots, no orphans.

Runs inside the source's own runs, after a publish, at most one job a table and run, so it never
fights the writer. Compaction moves rows between files and changes none: its snapshots carry no
stamp, `_commit` stays on the rows.
"""

from datetime import datetime, timedelta, timezone

from lakehouse_assets import settings
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake

MAX_SNAPSHOTS, KEPT_SNAPSHOTS = 300, 100
NEW_FILES = 120  # written since the last compaction: time for the next
SMALL_FILES = 12  # of one partition are worth rewriting into one
ORPHAN_AGE = timedelta(days=3)  # no write takes that long, so what nobody refers to by then is dead
ORPHANS_EVERY = timedelta(days=1)


def maintain(lake: Lake, head: Head) -> str:
    """Do the most urgent job that is due; says which, or ''."""
    catalog = settings.CATALOG
    now = datetime.now(timezone.utc)
    if head.files - int(head.care.get("files", 0)) > NEW_FILES:
        job, call = (
            "compacted",
            (
                f"CALL {catalog}.system.rewrite_data_files(table => '{head.name}', options => map("
                f"'min-input-files', '{SMALL_FILES}', 'delete-file-threshold', '{SMALL_FILES}', "
                "'remove-dangling-deletes', 'true', 'max-concurrent-file-group-rewrites', '2'))"
            ),
        )
    elif head.snapshots > MAX_SNAPSHOTS:
        job, call = (
            "expired snapshots",
            (
                f"CALL {catalog}.system.expire_snapshots(table => '{head.name}', "
                f"older_than => {_literal(now)}, retain_last => {KEPT_SNAPSHOTS})"
            ),
        )
    elif now - _last_orphans(head, now) > ORPHANS_EVERY:
        job, call = (
            "removed orphans",
            (
                f"CALL {catalog}.system.remove_orphan_files(table => '{head.name}', "
                f"older_than => {_literal(now - ORPHAN_AGE)})"
            ),
        )
    else:
        return ""
    with lake.phase("maintenance"):
        lake.spark.sql(call).collect()
    _note(lake, head, job, now)
    return job


def _note(lake: Lake, head: Head, job: str, now: datetime) -> None:
    care = dict(head.care) | {"last": job, "at": now.isoformat()}
    if job == "compacted":
        care["files"] = lake.catalog.head(head.name).files
    if job == "removed orphans" or "orphans_at" not in care:
        care["orphans_at"] = now.isoformat()
    lake.catalog.note_care(head.name, care)


def _last_orphans(head: Head, now: datetime) -> datetime:
    """A table that was never looked after is new: nothing in it is old enough to be an orphan."""
    return datetime.fromisoformat(head.care["orphans_at"]) if "orphans_at" in head.care else now


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S}'"
