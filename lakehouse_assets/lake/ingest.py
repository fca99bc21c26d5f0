"""Topic to raw table: every record one row, in the hour in which Kafka received it.

Progress (topic id, generation, next offset by partition) is part of the table's own commit, so
records, errors and offsets are one atomic step.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from lakehouse_assets import settings
from lakehouse_assets.lake import scope
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.scope import iso, naive
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.topics.kafka import HOUR, Kafka, Offsets, Topic, now
from lakehouse_assets.topics.parse import parse
from lakehouse_assets.topics.position import (
    RecordsLost,
    first_open_hour,
    position,
    progress,
    topic_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_RECORDS = 4_000_000  # in one batch; more are left to the next
SMALL = 50_000  # records that are not worth a file for each Kafka partition


class NotInOrder(Exception):
    """Hours are ingested in order, so that a table never has a hole in its past."""


@dataclass(frozen=True)
class Batch:
    """The records of one commit: offsets from (included) to (excluded), all of one hour."""

    topic: Topic
    generation: int
    start: Offsets
    end: Offsets
    hour: datetime
    lag: int  # records in the topic beyond this batch
    cut: bool = False  # there was more in this hour than one batch may hold

    @property
    def count(self) -> int:
        return sum(self.end[p] - self.start[p] for p in self.end)


def next_batch(kafka: Kafka, topic: Topic, head: Head, hour: datetime) -> Batch | None:
    """The unread records of an hour, at most `MAX_RECORDS`; None when it has none."""
    generation, start = position(head, topic)
    oldest = first_open_hour(kafka, topic, start, settings.first_hour())
    if oldest is None or oldest > hour:
        return None
    if oldest < hour:
        raise NotInOrder(
            f"{head.name}: hour {oldest:%Y-%m-%d-%H:%M} has unread records; "
            f"materialize it before {hour:%Y-%m-%d-%H:%M}"
        )
    closed = hour + HOUR <= now()
    end = kafka.first_at(topic, hour + HOUR) if closed else dict(topic.latest)
    wanted = {p: max(end[p], start[p]) for p in start}
    end = _capped(start, wanted)
    lag = sum(topic.latest[p] - end[p] for p in end)
    return Batch(topic, generation, start, end, hour, lag, cut=end != wanted)


def _capped(start: Offsets, end: Offsets) -> Offsets:
    room = MAX_RECORDS // max(len(start), 1)
    return {p: min(end[p], start[p] + room) for p in start}


def append(lake: Lake, table: LakeTable, head: Head, batch: Batch) -> Change:
    """The batch as rows to add."""
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run,
        progress=progress(batch.topic, batch.generation, batch.end), **_hour(batch.hour),
    )  # fmt: skip
    lake.compile(batch.count > SMALL)
    return Change(read(lake, table, batch), "append", stamp)


def _hour(hour: datetime) -> dict[str, object]:
    """What a stamp says of a batch that lies in one hour."""
    span = scope.as_ranges([(naive(hour), naive(hour + HOUR))])
    return {"hour": iso(hour), "at": "ingest_hour", "ranges": span}


def replace_hour(lake: Lake, table: LakeTable, head: Head, kafka: Kafka, hour: datetime) -> Change:
    """An hour's stored offsets, read from Kafka again; refused if Kafka no longer has them all."""
    from pyspark.sql import functions as F

    where = f"ingest_hour = timestamp'{iso(hour)}'"
    held = lake.at(head).where(where).groupBy("topic_generation", "kafka_partition")
    spans = held.agg(
        F.min("kafka_offset").alias("a"),
        F.max("kafka_offset").alias("b"),
        F.count(F.lit(1)).alias("n"),
    ).collect()
    topic = topic_of(kafka, head, table.topic)
    generation, _ = position(head, topic)
    start = {r["kafka_partition"]: r["a"] for r in spans}
    end = {r["kafka_partition"]: r["b"] + 1 for r in spans}
    old = [r for r in spans if r["topic_generation"] != generation]
    gone = {p: o for p, o in start.items() if o < topic.earliest.get(p, 0)}
    batch = Batch(topic, generation, start, end, hour, 0)
    if old or gone or read(lake, table, batch).count() < sum(r["n"] for r in spans):
        raise RecordsLost(
            f"{head.name}: hour {hour:%Y-%m-%d-%H:%M} cannot be rebuilt, Kafka no longer has all "
            f"its records (first offsets by partition: {start}); "
            "the stored rows are untouched"
        )
    stamp = scope.next_stamp(head.stamp, code=table.code_version(), run=lake.run, **_hour(hour))
    stamp = replace(stamp, corrects=True)
    return Change(read(lake, table, batch), "replace", stamp, where=where, carry=False)


def read(lake: Lake, table: LakeTable, batch: Batch) -> "DataFrame":
    """The batch's records from Kafka, parsed once."""
    from pyspark.sql import functions as F

    spans = {p: (batch.start[p], batch.end[p]) for p in batch.end if batch.end[p] > batch.start[p]}
    name = batch.topic.name
    reader = lake.spark.read.format("kafka").options(
        **{
            "kafka.bootstrap.servers": settings.kafka_bootstrap(),
            "kafka.isolation.level": "read_committed",
            "kafka.fetch.max.wait.ms": "10",  # the end of the range is there: nothing to wait for
            "kafka.max.poll.records": "10000",
            "failOnDataLoss": "true",
            "assign": json.dumps({name: sorted(spans)}),
            "startingOffsets": json.dumps({name: {str(p): a for p, (a, _) in spans.items()}}),
            "endingOffsets": json.dumps({name: {str(p): b for p, (_, b) in spans.items()}}),
        }
    )
    records = reader.load()
    if batch.count <= SMALL:
        records = records.coalesce(2)
    here = {
        "topic_generation": F.lit(batch.generation),
        "ingest_hour": F.expr(f"timestamp'{iso(batch.hour)}'"),
    }
    return parse(records.withColumns(here), table)
