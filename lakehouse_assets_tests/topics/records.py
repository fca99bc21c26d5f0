"""Topics for tests: made, written to, read back through a raw table."""

from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lakehouse_assets import settings
from lakehouse_assets.lake.advance import Outcome, advance
from lakehouse_assets.lake.bases import KeyedTable, RawTable
from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lake.table import LakeTable, raw_table
from lakehouse_assets.topics.kafka import HOUR, now
from lakehouse_assets.topics.parse import parse

Row = dict[str, Any]

ARRIVED = datetime(2024, 3, 1, 10, 20, tzinfo=timezone.utc)
ARRIVED_IN = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)


class Notes(RawTable, name="raw.notes"):
    """raw.notes: one row per record."""

    id = column("string", "Whose note.")
    amount = column("decimal(10,2)", "How much.")
    count = column("int", "How many.")
    made_at = column("timestamp", "When, UTC.")
    tags = column("struct<colour:string,shape:string>", "Texts only.")


class KeyedNotes(KeyedTable, name="raw.notes"):
    id = column("string", "Whose note; a null value deletes it.")


def parsed(
    lake: Lake, table: LakeTable, *values: bytes | None, keys: list[str | None] | None = None
) -> list[Row]:
    """The rows of records with these values, in their order; no Kafka is asked."""
    keyed = enumerate(zip(keys or [None] * len(values), values, strict=True))
    records = lake.spark.createDataFrame(
        [(0, n, ARRIVED, k and k.encode(), value, 0, ARRIVED_IN) for n, (k, value) in keyed],
        "partition int, offset bigint, timestamp timestamp, key binary, value binary, "
        "topic_generation int, ingest_hour timestamp",
    )
    found = fetched(parse(records, table)).to_pylist()
    return sorted(found, key=lambda row: row["kafka_offset"])


def notes(topic: str, contract: type[RawTable] = Notes) -> LakeTable:
    return raw_table(contract, topic=topic, group="bare")


def make_topic(name: str, partitions: int = 1, **config: str) -> str:
    """A topic; with `timestamps="producer"` its records carry the time that `send` gives them."""
    kind = "CreateTime" if config.pop("timestamps", "") == "producer" else "LogAppendTime"
    settled = {
        "message.timestamp.type": kind,
        "max.message.bytes": "10000000",
        "message.timestamp.after.max.ms": str(10**15),
        **{k.replace("_", "."): v for k, v in config.items()},
    }
    topic = NewTopic(name, num_partitions=partitions, config=settled)
    client = admin()  # held until the answer is there
    client.create_topics([topic], operation_timeout=10)[name].result(10)
    return name


def admin() -> AdminClient:
    return AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})


def producer(**conf: Any) -> Producer:
    usual = {"bootstrap.servers": settings.kafka_bootstrap(), "message.max.bytes": 10_000_000}
    return Producer(usual | conf)


def send(
    topic: str, *values: bytes | None, at: datetime | None = None, partition: int = 0, key: str = ""
) -> None:
    """Records in the given order; `at` is their producer's time."""
    sender = producer()
    when = {"timestamp": int(at.timestamp() * 1000)} if at else {}
    for value in values:
        sender.produce(topic, value, key=key or None, partition=partition, **when)
    assert sender.flush(20) == 0


def ingest(lake: Lake, table: LakeTable) -> Outcome:
    """Every hour from the lake's first to now, so that a test may run over the turn of an hour."""
    hour, done = settings.first_hour(), []
    while hour <= now():
        outcome = advance(lake, table, hour)
        done += outcome.published
        hour += HOUR
    outcome.published = done
    return outcome


