"""Every table against the truth over what the topic holds; nothing of the engine is asked.

The topic is read by a plain consumer, the tables by pyiceberg. The truth is the generator's, from
the records' bytes alone.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog.sql import SqlCatalog

from lakehouse_assets import settings
from lakehouse_assets.sources import payments_truth as truth

READ_S = 120
EXAMPLES = 3
Row = dict[str, Any]
Key = tuple[Any, ...]

KEYS = {
    truth.RAW: ("kafka_partition", "kafka_offset"),
    truth.STAGING: ("event_id",),
    truth.SEMANTIC: ("charge_id",),
    truth.MART: ("created_on", "provider", "status", "currency"),
    truth.QUARANTINE: ("kafka_partition", "kafka_offset"),
}
HISTORY, HISTORY_KEY = "metadata.check_history", ("table", "check", "partition", "commit")


@dataclass
class Compared:
    """One table beside its truth, by key."""

    table: str
    rows: int = 0
    lost: int = 0  # keys that the table lacks
    duplicated: int = 0  # rows too many of a key
    wrong: int = 0  # keys with other content, or that the truth does not know
    examples: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        return not (self.lost or self.duplicated or self.wrong)

    def note(self, what: str, key: Key, detail: str = "") -> None:
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{what} {key} {detail}".strip())


def compared(records: list[truth.Delivered]) -> list[Compared]:
    """All tables that have a truth, and the log of checks, of which only uniqueness is known."""
    expected = truth.expected(records)
    bytes_of = {(r.partition, r.offset): r for r in records}
    found = []
    for name, key in KEYS.items():
        wanted = expected[name]
        if name == truth.RAW:
            wanted = [_raw_expected(row, bytes_of) for row in wanted]
        found.append(compare(name, key, map(_SHOWN.get(name, _public), rows_of(name)), wanted))
    history = rows_of(HISTORY)
    unique = {_key(row, HISTORY_KEY): row for row in history}
    found.append(compare(HISTORY, HISTORY_KEY, history, unique.values()))
    return found


def compare(name: str, key: tuple[str, ...], have: Iterable[Row], want: Iterable[Row]) -> Compared:
    result = Compared(name)
    stored: dict[Key, list[str]] = defaultdict(list)
    for row in have:
        stored[_key(row, key)].append(_text(row))
        result.rows += 1
    expected = {_key(row, key): _text(row) for row in want}
    for place in expected.keys() - stored.keys():
        result.lost += 1
        result.note("lost", place)
    for place, rows in stored.items():
        if len(rows) > 1:
            result.duplicated += len(rows) - 1
            result.note("duplicated", place, f"{len(rows)} rows")
        if place not in expected:
            result.wrong += 1
            result.note("unexpected", place)
        elif any(row != expected[place] for row in rows):
            result.wrong += 1
            result.note("wrong", place, f"is {rows[0]}, should be {expected[place]}")
    return result


def rows_of(name: str) -> list[Row]:
    rows: list[Row] = _catalog().load_table(name).scan().to_arrow().to_pylist()
    return rows


def branches() -> dict[str, list[str]]:
    """Every branch beside main, by table."""
    catalog, found = _catalog(), {}
    for space in catalog.list_namespaces():
        for name in catalog.list_tables(space):
            refs = [ref for ref in catalog.load_table(name).metadata.refs if ref != "main"]
            if refs:
                found[".".join(name)] = refs
    return found


def _catalog() -> SqlCatalog:
    uri = f"{settings.catalog_uri()}?timeout=30"
    return SqlCatalog(settings.CATALOG, uri=uri, warehouse=settings.warehouse())


def read_back(topic: str) -> list[truth.Delivered]:
    """Every record of a topic, by a plain consumer."""
    consumer = Consumer({
        "bootstrap.servers": settings.kafka_bootstrap(), "group.id": "chaos-oracle",
        "enable.auto.commit": False, "isolation.level": "read_committed",
        "fetch.message.max.bytes": 10_000_000, "log_level": 2,
    })  # fmt: skip
    partitions = list(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
    ends = [consumer.get_watermark_offsets(TopicPartition(topic, p))[1] for p in partitions]
    consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
    found: list[truth.Delivered] = []
    deadline = time.monotonic() + READ_S
    while len(found) < sum(ends):
        if time.monotonic() > deadline:
            raise RuntimeError(f"only {len(found)} of {sum(ends)} records came in {READ_S} s")
        for message in consumer.consume(10_000, timeout=1):
            if message.error():
                raise RuntimeError(f"reading {topic} back: {message.error()}")
            arrived = datetime.fromtimestamp(message.timestamp()[1] / 1000, timezone.utc)
            place = (message.partition() or 0, message.offset() or 0)
            found.append(truth.Delivered(*place, arrived, message.value()))
    consumer.close()
    return found


def _public(row: Row) -> Row:
    """Columns that begin with `_` are bookkeeping."""
    return {name: value for name, value in row.items() if name[0] != "_"}


def _raw_found(row: Row) -> Row:
    named = {"error": row["_error"], "payload": row["_payload"]}
    return _public(row) | named | {"topic_generation": row["topic_generation"]}


def _raw_expected(row: Row, records: dict[tuple[int, int], truth.Delivered]) -> Row:
    """With what raw adds: when it arrived, its hour, the bytes where they are kept."""
    record = records[row["kafka_partition"], row["kafka_offset"]]
    kept = {n: v for n, v in row.items() if n != "has_unknown_fields"}
    return kept | {
        "payload": record.value if row["error"] or row["has_unknown_fields"] else None,
        "topic_generation": 0,
        "arrived_at": record.arrived_at,
        "ingest_hour": record.arrived_at.replace(minute=0, second=0, microsecond=0),
    }


def _quarantine_found(row: Row) -> Row:
    return {c: row[c] for c in ("kafka_partition", "kafka_offset", "stage", "reason")}


_SHOWN: dict[str, Callable[[Row], Row]] = {
    truth.RAW: _raw_found, truth.QUARANTINE: _quarantine_found
}  # fmt: skip


def _key(row: Row, key: tuple[str, ...]) -> Key:
    return tuple(row[name] for name in key)


def _text(row: Row) -> str:
    """One spelling of a row, whichever library read it."""
    plain = {
        name: value.astimezone(timezone.utc).isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }
    return repr(sorted(plain.items()))
