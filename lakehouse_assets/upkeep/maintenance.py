"""Keeping tables fast while they grow: few files, few snapshots, no orphans.

Runs inside the source's own runs, after a publish, at most one job a table and run, so it never
fights the writer. Compaction moves rows between files and changes none: its snapshots carry no
stamp, `_commit` stays on the rows. A table with a commit log is also rid of what attempts left.
"""

from datetime import datetime, timedelta, timezone

from lakehouse_assets import settings
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage.cleaning import clean
from lakehouse_assets.lineage.log import CommitLog
from lakehouse_assets.lineage.rewriting import rewrite

MAX_SNAPSHOTS = 300
KEPT_SNAPSHOTS = 100  # many more than compactions in a row, whose snapshots bear no stamp
NEW_FILES = 120  # written since the last compaction: time for the next
FILES_A_CALL = 2_000  # rewritten at most, which bounds the time; the rest is the next run's
SMALL_FILES = 12  # of one partition are worth rewriting into one
ORPHAN_AGE = timedelta(days=3)  # no write takes that long, so what nobody refers to by then is dead
ORPHANS_EVERY = timedelta(days=1)
CLEAN_EVERY = timedelta(hours=1)  # of a table with a commit log


COMPACTED, CLEANED = "compacted", "cleaned up after attempts"
EPOCH = "1970-01-01T00:00:00+00:00"


def maintain(lake: Lake, head: Head) -> str:
    """Do the most urgent job that is due; says which, or ''."""
    now = datetime.now(timezone.utc)
    looked_after = datetime.fromisoformat(head.care.get("orphans_at", now.isoformat()))
    jobs = [
        (COMPACTED, head.files - int(head.care.get("files", 0)) > NEW_FILES,
         "rewrite_data_files", f"options => map({_options()})"),
        ("expired snapshots", head.snapshots > MAX_SNAPSHOTS,
         "expire_snapshots", f"older_than => {_literal(now)}, retain_last => {KEPT_SNAPSHOTS}"),
        ("removed orphans", now - looked_after > ORPHANS_EVERY,
         "remove_orphan_files", f"older_than => {_literal(now - ORPHAN_AGE)}"),
    ]  # fmt: skip
    is_logged = bool(CommitLog(head.name).last())
    for job, due, procedure, arguments in jobs:
        if due:
            with lake.phase("maintenance"):
                if is_logged and job == COMPACTED:
                    if rewrite(lake, head, arguments) is None:
                        return ""
                else:
                    told = f"table => '{head.name}', {arguments}"
                    lake.spark.sql(f"CALL {settings.CATALOG}.system.{procedure}({told})").collect()
            _note(lake, head, job, now)
            return job
    cleaned_at = datetime.fromisoformat(head.care.get("cleaned_at", EPOCH))
    if is_logged and now - cleaned_at > CLEAN_EVERY:
        with lake.phase("maintenance"):
            clean(lake.catalog, head.name)
        _note(lake, head, CLEANED, now)
        return CLEANED
    if "orphans_at" not in head.care:  # new: nothing in it is old enough to be an orphan
        lake.catalog.note_care(head.name, head.care | {"orphans_at": now.isoformat()})
    return ""


def _options() -> str:
    """The open hour and day too: inside the source's own run nobody else writes them."""
    options = {
        "min-input-files": SMALL_FILES,
        "delete-file-threshold": SMALL_FILES,
        "remove-dangling-deletes": "true",
        "max-concurrent-file-group-rewrites": 2,
        "max-files-to-rewrite": FILES_A_CALL,
    }
    return ", ".join(f"'{name}', '{value}'" for name, value in options.items())


def _note(lake: Lake, head: Head, job: str, now: datetime) -> None:
    care = dict(head.care) | {"last": job, "at": now.isoformat()}
    if job == COMPACTED:
        care["files"] = lake.catalog.head(head.name).files
    if job == "removed orphans":
        care["orphans_at"] = now.isoformat()
    if job == CLEANED:
        care["cleaned_at"] = now.isoformat()
    lake.catalog.note_care(head.name, care)


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S}'"
