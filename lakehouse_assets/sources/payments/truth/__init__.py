"""What every table must hold after some deliveries of the payments topics, from their bytes alone.

It is the oracle of tests, demo and chaos, so it shares no code with the engine, the layers or
Spark, and it is written for reading, not for speed. Instants are UTC with microseconds, money is
Decimal, and rows come sorted by their key.
"""

from collections.abc import Iterable
from datetime import datetime

from lakehouse_assets.sources.oracle import LONG_AGO, PLACE, QUARANTINE, Delivered, delivered, hour
from lakehouse_assets.sources.payments.record import SHAPES
from lakehouse_assets.sources.payments.truth import (
    disputes,
    features,
    history,
    ledger,
    payers,
    payments,
    performance,
    quality,
    raw,
    revenue,
    rules,
    staging,
    training,
)
from lakehouse_assets.sources.payments.truth.raw import Row

__all__ = [
    "ENTITIES", "GIVEN", "KEYS", "QUARANTINE", "RAW", "STAGING", "Delivered", "Truth", "delivered",
    "expected",
]  # fmt: skip

Truth = dict[str, list[Row]]  # table: its rows

# What is made of staging, each from what stands before it.
BEYOND = (
    payments, ledger, history, revenue, disputes, performance, features, payers, training, quality,
)  # fmt: skip

RAW = {shape.topic: f"raw.{shape.topic}" for shape in SHAPES}
STAGING = {shape.topic: f"staging.stg_{shape.topic}" for shape in SHAPES}
KEYS: dict[str, tuple[str, ...]] = {  # of every table that has a truth
    **{RAW[topic]: PLACE for topic in RAW},
    **{STAGING[topic]: staging.KEYS[topic] for topic in STAGING},
    **{name: key for part in BEYOND for name, key in part.KEYS.items()},
    QUARANTINE: ("source_table", *PLACE),
}
GIVEN: tuple[str, ...] = ()  # no table is taken as it is, none names an entity
ENTITIES: tuple[str, ...] = ()


def expected(records: Iterable[Delivered], first_hour: datetime = LONG_AGO) -> Truth:
    """The rows of every table; the order of the records does not matter, their offsets say it.

    `first_hour`: the lake's first, which takes everything older.
    """
    truth: Truth = {name: [] for name in KEYS}
    accepted: dict[str, list[Row]] = {topic: [] for topic in RAW}
    for record in sorted(records, key=lambda record: record[:3]):
        topic, table = record.topic, RAW[record.topic]
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        parsed = raw.parse(topic, record.value)
        unknown = {"error": parsed.error, "has_unknown_fields": parsed.has_unknown_fields}
        arrival = {"arrived_at": record.arrived_at, "ingest_hour": hour(record, first_hour)}
        truth[table].append(place | arrival | unknown | _keyed(record) | parsed.row)
        if parsed.error:
            stage, reason = "parse", parsed.error
        else:
            row = _staged(record, parsed.row)
            stage, reason = "staging", rules.refused(topic, row) or ""
            if not reason:
                accepted[topic].append(row)
                continue
        why = {"source_table": table, "stage": stage, "reason": reason}
        truth[QUARANTINE].append(place | why)
    for topic, rows in accepted.items():
        truth[STAGING[topic]] = _winners(topic, rows)
    for part in BEYOND:
        truth |= part.tables(truth)
    return truth


def _keyed(record: Delivered) -> Row:
    if record.topic not in raw.KEYED:
        return {}
    return {"kafka_key": record.key and record.key.decode(), "is_deletion": record.value is None}


def _staged(record: Delivered, parsed: Row) -> Row:
    if record.value is None:
        row = staging.deletion(record.topic, record.key, record.arrived_at)
    else:
        row = staging.cleaned(record.topic, parsed)
        if record.topic in raw.KEYED:
            row["is_deleted"] = False
    return row | {"arrived_at": record.arrived_at}


def _winners(topic: str, rows: list[Row]) -> list[Row]:
    """One row per key: the newest, then the greatest content, then the earliest to arrive."""
    best: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=lambda row: row["arrived_at"], reverse=True):
        key = tuple(row[name] for name in staging.KEYS[topic])
        held = best.get(key)
        if held is None or staging.version(topic, row) >= staging.version(topic, held):
            best[key] = row
    return [best[key] for key in sorted(best)]
