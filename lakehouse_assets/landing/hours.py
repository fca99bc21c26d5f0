"""Which hours of a raw table are behind in the files that are left of them, and writing those.

Records that came since are added to what the file of their hour holds, so that the work follows the
news; an hour whose rows changed in place is written whole. Either way the file is replaced in one
step. What did not decode is not in it: `metadata.quarantine` lists that.
"""

from dataclasses import dataclass, field
from datetime import datetime, timezone

from pyiceberg.table.snapshots import Operation

from lakehouse_assets.lake.catalog import stamp_of
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.landing.envelope import schema_of
from lakehouse_assets.landing.files import Files, Noted, Standing
from lakehouse_assets.landing.writing import Landed, write
from lakehouse_assets.topics.kafka import HOUR

SEEN_AGAIN = 20  # batches that were noted before, whose files are looked at once more
MANY = 1_000_000  # rows of a table


@dataclass
class Added:
    """Hours to which batches added records, each with the newest of these; and the batch after
    which nothing else happened than such additions.
    """

    hours: dict[datetime, int] = field(default_factory=dict)
    after: int = 0


def land(lake: Lake, table: LakeTable) -> list[Landed]:
    """Bring every hour up to the raw table.

    That it is done is noted only if no other run had a file in its hands, which could still take
    the place of a newer one of ours, and ours are what then stands: the next run looks again.
    """
    files, head = Files(table), lake.catalog.head(table.name)
    files.place.clear()
    if (noted := files.noted()) == Noted.of(head):
        return []
    with lake.phase("behind"):
        added = added_since(lake, head, noted)
        behind = _of_all(lake, files, head) if added is None else _of_news(files, head, added)
    done = [write(lake, files, head, hour, whole) for hour, whole in sorted(behind.items())]
    if files.place.is_at_rest() and all(_stands(files, head, one) for one in done):
        files.note(Noted.of(head))
    return done


def land_anew(lake: Lake, table: LakeTable, hours: list[datetime]) -> list[Landed]:
    """These hours, whole, whatever their files say."""
    files, head = Files(table), lake.catalog.head(table.name)
    files.place.clear()
    return [write(lake, files, head, hour, is_whole=True) for hour in hours]


def added_since(lake: Lake, head: Head, noted: Noted | None) -> Added | None:
    """None: the batches do not tell, since rows were changed in place, or not by us, or it is too
    long ago.
    """
    table, found = lake.catalog.load(head.name), Added()
    snapshot = table.snapshot_by_id(head.snapshot_id)
    if noted is None or (noted.epoch, noted.commit) > (head.stamp.epoch, head.stamp.commit):
        return None
    found.after = max(noted.commit - SEEN_AGAIN, 0)
    while snapshot is not None:
        stamp = stamp_of(snapshot)
        if stamp is None:
            if snapshot.summary is None or snapshot.summary.operation != Operation.REPLACE:
                return None  # compaction alone changes no row
        elif stamp.commit <= found.after:
            return found
        elif stamp.epoch != noted.epoch or stamp.ranges is None:
            return None
        elif stamp.corrects:
            if stamp.commit > noted.commit:
                return None
            found.after = stamp.commit
            return found
        else:
            for hour in _hours(stamp.ranges):
                found.hours.setdefault(hour, stamp.commit)
        parent = snapshot.parent_snapshot_id
        snapshot = table.snapshot_by_id(parent) if parent is not None else None
    return None


def counts(lake: Lake, head: Head, where: str = "true") -> dict[datetime, tuple[int, int]]:
    """Of each hour of the raw table how many good records there are, and the newest batch."""
    from pyspark.sql import functions as F

    lake.compile(head.rows > MANY)
    rows = lake.at(head).where(where).groupBy("ingest_hour")
    told = rows.agg(F.expr("count_if(_error is null)").alias("rows"), F.max(COMMIT).alias("newest"))
    return {
        row["ingest_hour"].astimezone(timezone.utc): (row["rows"], row["newest"])
        for row in told.collect()
    }


def _of_news(files: Files, head: Head, added: Added) -> dict[datetime, bool]:
    """Hours that are behind, and whether they have to be written whole."""
    schema, behind = schema_of(files.table).encode(), {}
    for hour, newest in added.hours.items():
        left = files.left(hour)
        if left is None or left.standing.epoch != head.stamp.epoch:
            behind[hour] = True
        elif left.standing.commit < newest:
            is_same = left.header.meta.get("avro.schema") == schema
            behind[hour] = not is_same or left.standing.commit < added.after
    return behind


def _of_all(lake: Lake, files: Files, head: Head) -> dict[datetime, bool]:
    """The same by looking at all hours of the raw table, and at all that are left."""
    raw = counts(lake, head)
    behind = {hour: True for hour in files.hours() if hour not in raw}
    for hour, (rows, newest) in raw.items():
        left = files.left(hour)
        stands = left is not None and left.standing.epoch == head.stamp.epoch
        if left is None or not stands or left.standing.commit < newest or left.rows != rows:
            behind[hour] = True
    return behind


def _stands(files: Files, head: Head, landed: Landed) -> bool:
    """Whether what is there is not older than that head."""
    left, wanted = files.left(landed.hour), Standing.of(head)
    if left is None:
        return not landed.is_there
    return left.standing == wanted or left.standing.is_later_than(wanted)


def _hours(ranges: list[list[str]]) -> list[datetime]:
    found = []
    for start, end in ranges:
        hour, last = (datetime.fromisoformat(m).replace(tzinfo=timezone.utc) for m in (start, end))
        while hour < last:
            found.append(hour)
            hour += HOUR
    return found
