"""Every table against the generator's truth: topic by a plain consumer, tables by pyiceberg.

Nothing of the engine is asked, so that it cannot vouch for itself.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog.sql import SqlCatalog

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources import payments_truth as truth

READ_S = 120  # for the whole topic
RECORD_BYTES = 10_000_000
Row = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """One table beside its truth."""

    rows: int
    expected: int
    missing: list[str]  # a few rows of the truth that the table lacks
    unexpected: list[str]  # a few of the table's that the truth lacks

    @property
    def equal(self) -> bool:
        return not self.missing and not self.unexpected and self.rows == self.expected


def payments(tell: Callable[[str], None]) -> dict[str, Compared]:
    """All that was ever sent as charges, and what became of it, by table."""
    tell("reading the topic back")
    records = read_back("payment_charges")
    tell(f"computing what {len(records):,} records must become")
    expected = truth.expected(records)
    found = {}
    for name, rows in expected.items():
        tell(f"comparing {name}")
        found[name] = _compare(_stored(name), rows)
    return found


def read_back(topic: str) -> list[truth.Delivered]:
    """Every record that the topic holds; refused if it no longer holds all that it ever did."""
    consumer = Consumer({
        "bootstrap.servers": settings.kafka_bootstrap(), "group.id": "lakehouse-demo",
        "enable.auto.commit": False, "isolation.level": "read_committed",
        "fetch.message.max.bytes": RECORD_BYTES, "log_level": 2,
    })  # fmt: skip
    try:
        partitions = list(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
        marks = {p: consumer.get_watermark_offsets(TopicPartition(topic, p)) for p in partitions}
        if any(first for first, _ in marks.values()):
            raise ServiceError(
                f"Kafka has dropped old records of {topic}, so what the tables must hold can no "
                "longer be computed. `lakehouse wipe` begins anew"
            )
        consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
        return _consume(consumer, {p: end for p, (_, end) in marks.items()})
    finally:
        consumer.close()


def _consume(consumer: Consumer, ends: dict[int, int]) -> list[truth.Delivered]:
    found: list[truth.Delivered] = []
    deadline = time.monotonic() + READ_S
    while len(found) < sum(ends.values()):
        if time.monotonic() > deadline:
            raise ServiceError(f"only {len(found)} of {sum(ends.values())} records came back from "
                               f"Kafka in {READ_S} s; see `lakehouse logs kafka`")  # fmt: skip
        for message in consumer.consume(10_000, timeout=1):
            if message.error():
                raise ServiceError(f"Kafka: {message.error()}; see `lakehouse logs kafka`")
            partition, offset = message.partition(), message.offset()
            if partition is None or offset is None or offset >= ends[partition]:
                continue
            arrived = datetime.fromtimestamp(message.timestamp()[1] / 1000, timezone.utc)
            found.append(truth.Delivered(partition, offset, arrived, message.value()))
    return found


def _stored(name: str) -> list[Row]:
    catalog = SqlCatalog(settings.CATALOG, uri=settings.catalog_uri())
    rows: list[Row] = catalog.load_table(name).scan().to_arrow().to_pylist()
    return [_FOUND[name](row) for row in rows] if name in _FOUND else [_public(row) for row in rows]


def _public(row: Row) -> Row:
    """Columns that begin with `_` are bookkeeping."""
    return {name: value for name, value in row.items() if name[0] != "_"}


def _raw_found(row: Row) -> Row:
    engine = {"arrived_at", "ingest_hour", "topic_generation"}
    kept = {n: v for n, v in _public(row).items() if n not in engine}
    unknown = row["_error"] is None and row["_payload"] is not None
    return kept | {"error": row["_error"], "has_unknown_fields": unknown}


def _quarantine_found(row: Row) -> Row:
    return {c: row[c] for c in ("kafka_partition", "kafka_offset", "stage", "reason")}


_FOUND: dict[str, Callable[[Row], Row]] = {
    truth.RAW: _raw_found, truth.QUARANTINE: _quarantine_found
}  # fmt: skip


def _compare(have: list[Row], want: list[Row]) -> Compared:
    found, expected = Counter(map(_text, have)), Counter(map(_text, want))
    missing, extra = expected - found, found - expected
    return Compared(len(have), len(want), sorted(missing)[:3], sorted(extra)[:3])


def _text(row: Row) -> str:
    """One spelling of a row, whichever library read it."""
    plain = {
        name: value.astimezone(timezone.utc).isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }
    return repr(sorted(plain.items()))
