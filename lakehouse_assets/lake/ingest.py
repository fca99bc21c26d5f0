"""Topic to raw table: every record one row, in the hour in which Kafka received it.

Progress (topic id, generation, next offset by partition) is read from the table's own newest commit, so records,
errors and offsets are one atomic step.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakehouse_assets import settings
from lakehouse_assets.lake import scope
from lakehouse_assets.lake.catalog import Head
from lakehouse_assets.lake.contract import COORDINATES, Column, Table
from lakehouse_assets.lake.kafka import HOUR, Kafka, Offsets, Topic, hour_of, now
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.schema import split_fields
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

MAX_RECORDS = 4_000_000  # in one batch; more are left to the next
SMALL = 50_000  # records that one task reads, parses and writes fastest
CORRUPT = "_corrupt_record"


class RecordsLost(Exception):
    """Kafka no longer has records that the table does not have; a person must accept the gap."""


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

    @property
    def count(self) -> int:
        return sum(self.end[p] - self.start[p] for p in self.end)


def position(head: Head, topic: Topic) -> tuple[int, Offsets]:
    """Generation and next offsets; refuses a topic that lost or replaced what we still wanted."""
    progress: dict[str, Any] = head.stamp.progress
    if not progress:
        return 0, dict(topic.earliest)
    if progress["topic_id"] != topic.id:
        raise RecordsLost(
            f"{head.name}: topic {topic.name} was deleted and created again (it was "
            f"{progress['topic_id']}, it is {topic.id}). What the old one held beyond our offsets "
            f"{progress['next']} is gone; `lakehouse accept-gap {head.name}` goes on with the new one"
        )
    after = {int(p): o for p, o in progress["next"].items()}
    start = {p: after.get(p, 0) for p in topic.latest}
    gone = {p: (start[p], topic.earliest[p]) for p in start if start[p] < topic.earliest[p]}
    if gone:
        spans = ", ".join(f"partition {p}: {a} to {b - 1}" for p, (a, b) in sorted(gone.items()))
        raise RecordsLost(
            f"{head.name}: Kafka dropped records that were never read: {spans}. "
            f"Raise the topic's retention; `lakehouse accept-gap {head.name}` goes on after the gap"
        )
    return progress["generation"], start


def first_open_hour(kafka: Kafka, topic: Topic, start: Offsets, begin: datetime) -> datetime | None:
    """The oldest hour with unread records; None if there are none. A binary search over hours."""
    if all(start[p] >= topic.latest[p] for p in start):
        return None
    low, high = begin, hour_of(now())
    while low < high:
        middle = low + ((high - low) // HOUR // 2) * HOUR
        if _unread_before(kafka, topic, start, middle + HOUR):
            high = middle
        else:
            low = middle + HOUR
    return low


def _unread_before(kafka: Kafka, topic: Topic, start: Offsets, moment: datetime) -> bool:
    bound = kafka.first_at(topic, moment)
    return any(start[p] < bound[p] for p in start)


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
    end = _capped(start, {p: max(end[p], start[p]) for p in start})
    lag = sum(topic.latest[p] - end[p] for p in end)
    return Batch(topic, generation, start, end, hour, lag)


def _capped(start: Offsets, end: Offsets) -> Offsets:
    room = MAX_RECORDS // max(len(start), 1)
    return {p: min(end[p], start[p] + room) for p in start}


def append(lake: Lake, table: LakeTable, head: Head, batch: Batch) -> Change:
    """The batch as rows to add."""
    following = {str(p): o for p, o in batch.end.items()}
    stamp = scope.next_stamp(
        head.stamp,
        progress={"topic_id": batch.topic.id, "generation": batch.generation, "next": following},
        code=table.code_version(),
        run=lake.run,
        hour=iso(batch.hour),
        at="ingest_hour",
        ranges=scope.as_ranges([(_naive(batch.hour), _naive(batch.hour + HOUR))]),
    )
    frame = read(lake, table, batch)
    return Change(frame, "append", stamp)


def replace_hour(lake: Lake, table: LakeTable, head: Head, kafka: Kafka, hour: datetime) -> Change:
    """An hour's stored offsets, read from Kafka again; refused if Kafka no longer has them all."""
    from pyspark.sql import functions as F

    where = f"ingest_hour = timestamp'{iso(hour)}'"
    held = lake.at(head).where(where).groupBy("topic_generation", "kafka_partition")
    spans = held.agg(F.min("kafka_offset").alias("a"), F.max("kafka_offset").alias("b")).collect()
    topic = kafka.topic(table.topic)
    generation, _ = position(head, topic)
    start = {r["kafka_partition"]: r["a"] for r in spans}
    end = {r["kafka_partition"]: r["b"] + 1 for r in spans}
    old = [r for r in spans if r["topic_generation"] != generation]
    gone = {p: o for p, o in start.items() if o < topic.earliest.get(p, 0)}
    if old or gone:
        raise RecordsLost(
            f"{head.name}: hour {hour:%Y-%m-%d-%H:%M} cannot be rebuilt, Kafka no longer has all its "
            f"records (from {gone or 'an earlier topic of this name'}); the stored rows are untouched"
        )
    batch = Batch(topic, generation, start, end, hour, 0)
    stamp = scope.next_stamp(
        head.stamp,
        code=table.code_version(),
        run=lake.run,
        hour=iso(hour),
        at="ingest_hour",
        ranges=scope.as_ranges([(_naive(hour), _naive(hour + HOUR))]),
    )
    return Change(read(lake, table, batch), "replace", stamp, where=where, carry=False)


def read(lake: Lake, table: LakeTable, batch: Batch) -> "DataFrame":
    """The batch's records from Kafka, parsed once."""
    spans = {p: (batch.start[p], batch.end[p]) for p in batch.end if batch.end[p] > batch.start[p]}
    name = batch.topic.name
    reader = lake.spark.read.format("kafka").options(
        **{
            "kafka.bootstrap.servers": settings.kafka_bootstrap(),
            "kafka.isolation.level": "read_committed",
            "failOnDataLoss": "true",
            "assign": json.dumps({name: sorted(spans)}),
            "startingOffsets": json.dumps({name: {str(p): a for p, (a, _) in spans.items()}}),
            "endingOffsets": json.dumps({name: {str(p): b for p, (_, b) in spans.items()}}),
        }
    )
    records = reader.load()
    if batch.count <= SMALL:
        records = records.coalesce(1)
    return parse(records, table, batch.generation, batch.hour)


def parse(records: "DataFrame", table: LakeTable, generation: int, hour: datetime) -> "DataFrame":
    """Kafka's rows as the table's: typed fields, or the reason why not and the bytes."""
    from pyspark.sql import functions as F

    fields = {n: c for n, c in table.contract.columns.items() if n not in COORDINATES}
    text = F.col("value").cast("string")
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": CORRUPT,
        "allowSingleQuotes": "false",
    }
    parsed = records.select(
        "partition", "offset", "timestamp", "value",
        F.from_json(text, _json_schema(fields), options).alias("j"),
        F.json_object_keys(text).alias("names"),
        F.expr("is_valid_utf8(cast(value as string))").alias("utf8"),
    )  # fmt: skip
    judged = parsed.withColumn("_error", F.expr(_error(table)))
    good = F.col("_error").isNull()
    unknown = F.expr(_unknown(fields))
    return judged.select(
        *[F.when(good, _field(n, c)).alias(n) for n, c in fields.items()],
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.lit(generation).alias("topic_generation"),
        F.col("timestamp").alias("arrived_at"),
        F.expr(f"timestamp'{iso(hour)}'").alias("ingest_hour"),
        "_error",
        F.when(~good | unknown, F.col("value")).alias("_payload"),
    )


def _error(table: LakeTable) -> str:
    nothing = "null" if table.tombstones else "'null value'"
    return (
        f"case when value is null then {nothing} when not utf8 then 'invalid utf-8' "
        f"when names is null then 'malformed' when j.{CORRUPT} is not null then 'wrong type' end"
    )


def _is_text_struct(column: Column) -> bool:
    """Objects of text alone are parsed as maps, which keep the names that nobody declared."""
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return column.type.startswith("struct<") and all(
        part.split(":")[1].strip() == "string" for part in split_fields(inner)
    )


def _members(column: Column) -> list[str]:
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return [part.split(":")[0].strip() for part in split_fields(inner)]


def _json_schema(fields: dict[str, Column]) -> str:
    types = {n: "map<string,string>" if _is_text_struct(c) else c.type for n, c in fields.items()}
    return ", ".join(f"`{n}` {t}" for n, t in types.items()) + f", {CORRUPT} string"


def _field(name: str, column: Column) -> "SparkColumn":
    from pyspark.sql import functions as F

    if not _is_text_struct(column):
        return F.col(f"j.`{name}`")
    members = ", ".join(f"'{m}', try_element_at(j.`{name}`, '{m}')" for m in _members(column))
    return F.expr(f"if(j.`{name}` is null, null, named_struct({members}))")


def _unknown(fields: dict[str, Column]) -> str:
    """SQL: some name, at the top or inside an object of texts, is not in the contract."""
    tests = [_strange("names", list(fields))]
    for name, column in fields.items():
        if _is_text_struct(column):
            tests.append(_strange(f"map_keys(j.`{name}`)", _members(column)))
    return f"coalesce({' or '.join(tests)}, false)"


def _strange(names: str, known: list[str]) -> str:
    """Names exactly in the contract's order are the common case and the cheap test."""
    listed = ", ".join(f"'{n}'" for n in known)
    return f"({names} != array({listed}) and size(array_except({names}, array({listed}))) > 0)"


def iso(moment: datetime) -> str:
    return _naive(moment).isoformat()


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
