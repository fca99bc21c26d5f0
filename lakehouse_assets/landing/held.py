"""Whether the files hold just the good records of the raw table: counted, and place by place.

The files are read by fastavro, which shares no code with what wrote them, down to their last
record. Records that the raw table took in a moment ago may still be on their way.
"""

from array import array
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.catalog import NoTable, stamped
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.landing.files import Files, of_hour
from lakehouse_assets.landing.hours import counts
from lakehouse_assets.topics.kafka import now

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

ON_THEIR_WAY = timedelta(minutes=5)  # that a file may be behind its raw table
LOOKED_INTO = 25  # of all hours the newest, place by place; of the others rows are counted
SHOWN = 5  # places of a kind
PLACE = ("generation", "partition", "offset")
# Of a record we want but this, and a reader skips what it was not asked for.
ASKED = {
    "type": "record", "name": "Envelope", "fields": [{"name": "kafka", "type": {
        "type": "record", "name": "Kafka", "fields": [
            {"name": "generation", "type": "int"}, {"name": "partition", "type": "int"},
            {"name": "offset", "type": "long"}]}}],
}  # fmt: skip


@dataclass
class Finding:
    """What differs, by hour."""

    records: int = 0
    hours: int = 0
    wrong: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, hour: datetime, **what: Any) -> None:
        if told := {name: found for name, found in what.items() if found}:
            self.wrong[f"{hour:%Y-%m-%d-%H}"] = told


def look(lake: Lake, table: LakeTable, hours: list[datetime]) -> Finding:
    """At these hours; at none: at all there are."""
    files, found = Files(table), Finding()
    try:
        head = lake.catalog.head(table.name)
    except NoTable:
        return found
    where = " or ".join(map(of_hour, hours)) or "true"
    raw = counts(lake, head, where)
    there = [hour for hour in files.hours() if not hours or hour in hours]
    every = sorted({*raw, *there})
    settled = _settled(lake, head)
    for hour in every[:-LOOKED_INTO] if not hours else []:
        left, (rows, newest) = files.left(hour), raw.get(hour, (0, 0))
        if (left.rows if left else 0) != rows and newest <= settled:
            found.add(hour, rows=left.rows if left else 0, in_raw=rows)
    for hour in every if hours else every[-LOOKED_INTO:]:
        _compare(lake, files, head, hour, settled, found)
    found.records, found.hours = sum(rows for rows, _ in raw.values()), len(every)
    return found


def _settled(lake: Lake, head: Head) -> int:
    """The newest batch whose records have to be there."""
    table, since = lake.catalog.load(head.name), (now() - ON_THEIR_WAY).timestamp() * 1000
    snapshots = stamped(table, table.snapshot_by_id(head.snapshot_id))
    return next((stamp.commit for stamp, s in snapshots if s.timestamp_ms <= since), 0)


def _compare(
    lake: Lake, files: Files, head: Head, hour: datetime, settled: int, found: Finding
) -> None:
    left = files.left(hour)
    if left and left.standing.epoch == head.stamp.epoch:
        settled = max(settled, left.standing.commit)
    good = lake.at(head).where(of_hour(hour)).where("_error is null")
    there = fetched(good.selectExpr(
        "topic_generation as generation", "kafka_partition as partition",
        "kafka_offset as offset", f"{COMMIT} <= {settled} as settled",
    ))  # fmt: skip
    try:
        held = _held(files, hour)
    except Exception as broken:  # of any kind: whatever a damaged file makes a reader say
        found.add(hour, unreadable=f"{files.address(hour)}: {type(broken).__name__}: {broken}")
        return
    must = there.filter(there["settled"]).select(list(PLACE))
    once = held.group_by(list(PLACE)).aggregate([([], "count_all")])
    several = once.filter(_is_several(once)).select(list(PLACE))
    found.add(
        hour,
        missing=_told(must.join(held, list(PLACE), join_type="left anti")),
        in_excess=_told(held.join(there.select(list(PLACE)), list(PLACE), join_type="left anti")),
        several_times=_told(several),
    )


def _held(files: Files, hour: datetime) -> "pa.Table":
    """Where in Kafka the records of a file are."""
    import fastavro
    import pyarrow as pa

    columns = {name: array("q") for name in PLACE}
    try:
        with files.open(hour) as file:
            records: Any = fastavro.reader(file, ASKED)
            for record in records:
                for name, column in columns.items():
                    column.append(record["kafka"][name])
    except FileNotFoundError:
        pass  # there is none: all that it should hold is missing
    kinds = {"generation": pa.int32(), "partition": pa.int32(), "offset": pa.int64()}
    return pa.table({n: pa.array(columns[n], pa.int64()).cast(k) for n, k in kinds.items()})


def _is_several(counted: "pa.Table") -> Any:
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    return pc.greater(counted["count_all"], 1)


def _told(places: "pa.Table") -> dict[str, Any]:
    """How many, and some of them; nothing for none."""
    if not places.num_rows:
        return {}
    ordered = places.sort_by([(name, "ascending") for name in PLACE]).slice(0, SHOWN).to_pylist()
    shown = [f"{r['partition']}:{r['offset']}" for r in ordered]
    return {"records": places.num_rows, "at partition:offset": shown}
