"""What a person orders on a raw table: go on after lost records, parse set-aside records again.

Both are batches like any other: written to a branch, judged, published by compare-and-swap, and
made again from the new head when another batch came first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from lakehouse_assets.lake import quality, scope
from lakehouse_assets.lake.catalog import MainMoved
from lakehouse_assets.lake.contract import COORDINATES
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.kafka import Kafka, Offsets, Topic
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.parse import parse
from lakehouse_assets.lake.publish import Change, Published, publish
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ATTEMPTS = 5  # redone batches, when others keep publishing first
KEY = ("topic_generation", "kafka_partition", "kafka_offset")


@dataclass(frozen=True)
class Gap:
    """Records that are lost to a raw table, and where it would go on."""

    table: str
    topic: Topic
    generation: int  # after accepting
    following: Offsets  # by partition the next offset to read, after accepting
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)  # first and last offset
    abandoned: Offsets | None = None  # of a topic that was deleted: where reading had come to

    def told(self) -> str:
        """Exactly what would be given up."""
        if self.abandoned is not None:
            return (
                f"{self.table}: topic {self.topic.name} was deleted and created again. Whatever "
                f"the old one held from offsets {spelled(self.abandoned)} on is gone; how much "
                f"that was, nobody can say now. The new topic is read from "
                f"{spelled(self.following)} on, as generation {self.generation}."
            )
        spans = ", ".join(f"partition {p}: {a} to {b}" for p, (a, b) in sorted(self.lost.items()))
        count = sum(b - a + 1 for a, b in self.lost.values())
        return (
            f"{self.table}: Kafka dropped {count:,} records of topic {self.topic.name} before "
            f"they were read: {spans}. They are gone."
        )


def spelled(offsets: Offsets) -> str:
    return ", ".join(f"{p}: {offset}" for p, offset in sorted(offsets.items())) or "nothing"


def find_gap(lake: Lake, table: LakeTable) -> Gap | None:
    """What keeps the table from going on; None if nothing is missing."""
    return _gap(lake.catalog.head(table.name), Kafka().topic(table.topic))


def accept_gap(lake: Lake, table: LakeTable) -> Gap | None:
    """Move the table's position past what is lost; no row changes. Returns what was given up."""
    kafka = Kafka()
    accepted: list[Gap] = []

    def change(head: Head) -> Change | None:
        gap = _gap(head, kafka.topic(table.topic))
        if gap is None:
            return None
        accepted[:] = [gap]
        progress = {
            "topic": gap.topic.name,
            "topic_id": gap.topic.id,
            "generation": gap.generation,
            "next": {str(p): offset for p, offset in gap.following.items()},
        }
        # The hour stays, and with it the tally of that hour: there is nothing to count. That no
        # span is touched tells the children not to look for rows.
        stamp = scope.next_stamp(
            head.stamp, progress=progress, code=table.code_version(), run=lake.run,
            at="ingest_hour", ranges=[],
        )  # fmt: skip
        return Change(_empty(lake, table), "append", stamp)

    published = _publish(lake, table, change)
    return accepted[0] if published else None


def _gap(head: Head, topic: Topic) -> Gap | None:
    progress = head.stamp.progress
    if not progress:
        return None
    taken = {int(p): offset for p, offset in progress["next"].items()}
    if progress["topic_id"] != topic.id:
        generation = progress["generation"] + 1
        return Gap(head.name, topic, generation, dict(topic.earliest), abandoned=taken)
    start = {p: taken.get(p, 0) for p in topic.earliest}
    lost = {p: (a, topic.earliest[p] - 1) for p, a in start.items() if a < topic.earliest[p]}
    if not lost:
        return None
    following = {p: max(a, topic.earliest[p]) for p, a in start.items()}
    return Gap(head.name, topic, progress["generation"], following, lost)


def _empty(lake: Lake, table: LakeTable) -> "DataFrame":
    columns = ", ".join(f"`{n}` {c.type}" for n, c in table.contract.columns.items())
    return lake.spark.createDataFrame([], columns)


def replay(lake: Lake, table: LakeTable) -> Published | None:
    """Parse again, with today's contract, every record whose bytes are kept; replace what differs.

    Rows keep their coordinates; their `_commit` moves, so that children see them. A record that
    still does not parse keeps its row. None: there was nothing to change.
    """
    if not table.topic:
        raise ValueError(
            f"{table.name} does not read Kafka: only raw tables keep records to replay"
        )
    lake.catalog.ensure(table.contract)
    return _publish(lake, table, lambda head: _replayed(lake, table, head))


def _replayed(lake: Lake, table: LakeTable, head: Head) -> Change | None:
    from pyspark.sql import functions as F

    columns = list(table.contract.columns)
    mask = quality.failures(table.contract.all_rules())
    stored = _complete(table, lake.at(head)).where("_error is not null or _payload is not null")
    was = stored.select(
        *[F.col(k).alias(f"_{k}") for k in KEY],
        F.struct(*[F.col(f"`{c}`") for c in columns]).alias("_was"),
        F.expr(mask).alias("_mask"),
    )
    same = [F.col(k) == F.col(f"_{k}") for k in KEY]
    now = (
        _parsed(table, stored).join(was, same).withColumn("ingest_hour", F.expr("_was.ingest_hour"))
    )
    # What cannot be told from the bytes again is what says where they came from.
    again = [c for c in columns if c not in COORDINATES or c.startswith("_")]
    differs = " or ".join(f"not (`{c}` <=> _was.`{c}`)" for c in again)
    changed = now.where(differs)
    with lake.phase("scope"):
        spans = scope.spans_of(changed, "ingest_hour")
    if not spans:
        return None
    # The newest tally is of one hour: only that hour's rows may move its counts.
    counts = f"ingest_hour = timestamp'{head.stamp.hour}'" if head.stamp.hour else "false"
    fresh = changed.select(
        *[f"`{c}`" for c in columns], F.lit("U").alias("_op"), F.lit(1).alias("_copies"),
        F.expr(f"if({counts}, {mask}, 0L)").alias("_new"),
        F.expr(f"if({counts}, _mask, 0L)").alias("_old"),
    )  # fmt: skip
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run,
        at="ingest_hour", ranges=scope.as_ranges(spans),
    )  # fmt: skip
    return Change(fresh, "merge", stamp, where=scope.within("ingest_hour", spans))


def _complete(table: LakeTable, stored: "DataFrame") -> "DataFrame":
    """A snapshot is read with the columns of its time; those that came since are NULL."""
    from pyspark.sql import functions as F

    late = {n: c for n, c in table.contract.columns.items() if n not in stored.columns}
    for name, column in late.items():
        stored = stored.withColumn(name, F.lit(None).cast(column.type))
    return stored


def _parsed(table: LakeTable, stored: "DataFrame") -> "DataFrame":
    """The stored bytes, read as if from Kafka; generations are few, hours are joined back."""
    from pyspark.sql import functions as F

    records = stored.select(
        "topic_generation",
        F.col("kafka_partition").alias("partition"),
        F.col("kafka_offset").alias("offset"),
        F.col("arrived_at").alias("timestamp"),
        F.col("_payload").alias("value"),
    )
    found = [r["topic_generation"] for r in records.select("topic_generation").distinct().collect()]
    hour = datetime(1970, 1, 1)  # replaced by the stored one
    parts = [parse(records.where(f"topic_generation = {g}"), table, g, hour) for g in found or [0]]
    union = parts[0]
    for part in parts[1:]:
        union = union.unionAll(part)
    return union


def _publish(
    lake: Lake, table: LakeTable, make: Callable[[Head], Change | None]
) -> Published | None:
    """One batch: made from the newest head, or made again when that head moved."""
    for _ in range(ATTEMPTS):
        head = lake.catalog.head(table.name)
        change = make(head)
        if change is None:
            return None
        try:
            return publish(lake, table.contract, head, change)
        except MainMoved:
            continue
    raise MainMoved(f"{table.name}: others published first {ATTEMPTS} times; try again")
