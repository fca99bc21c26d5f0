"""Changes of the shop as the capture writes them, from the few values that matter."""

import io
import json
import struct
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from fastavro import parse_schema, schemaless_writer

from lakehouse_assets.sources.oracle import Delivered
from lakehouse_assets.sources.storefront.truth import TOPICS, Truth, expected
from lakehouse_assets.sources.storefront.truth.shape import TABLES
from lakehouse_assets.sources.storefront.truth.written import Schemas, written

Row = dict[str, Any]

T0 = datetime(2026, 5, 4, 10, tzinfo=timezone.utc)  # a Monday
UNSENT = "__debezium_unavailable_value"
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
AVRO: dict[str, Any] = {
    "long": "long", "int": "int", "text": "string", "money": DECIMAL, "flag": "boolean",
    "day": "int", "instant": "string", "words": {"type": "array", "items": ["null", "string"]},
}  # fmt: skip
NUMBERS = ("ts_ms", "ts_us", "ts_ns", "txId", "lsn", "xmin", "origin_lsn")
WORDS = ("version", "connector", "name", "snapshot", "db", "sequence", "schema", "table", "origin")
USUAL: Row = {
    "email": "a@example.com", "segment": "new", "country": "DE", "is_subscribed": False,
    "currency": "EUR", "status": "paid", "discount": Decimal(0), "created_at": T0,
}  # fmt: skip


def at(minute: float) -> datetime:
    return T0 + timedelta(minutes=minute)


def optional(name: str, avro: Any) -> Row:
    return {"name": name, "type": ["null", avro], "default": None}


def record(name: str, fields: list[Row]) -> Row:
    return {"type": "record", "name": name, "fields": fields}


def schema(table: str) -> Row:
    row = record("Value", [optional(c.origin, AVRO[c.kind]) for c in TABLES[table].columns])
    source = [optional(n, "long") for n in NUMBERS] + [optional(n, "string") for n in WORDS]
    place = [{"name": "id", "type": "string"}]
    place += [{"name": n, "type": "long"} for n in ("total_order", "data_collection_order")]
    return record("Envelope", [
        optional("before", row), optional("after", "Value"), {"name": "op", "type": "string"},
        {"name": "source", "type": record("Source", source)},
        optional("transaction", record("block", place)),
        *[optional(n, "long") for n in ("ts_ms", "ts_us", "ts_ns")],
    ])  # fmt: skip


def number(table: str) -> int:
    return list(TABLES).index(table) + 1


def schemas_of(topic: str) -> Schemas:
    name = TOPICS[topic]
    return {number(name): written(json.dumps(schema(name)))}


def value(table: str, said: Row) -> bytes:
    body = io.BytesIO()
    schemaless_writer(body, parse_schema(schema(table)), said)
    return struct.pack(">bI", 0, number(table)) + body.getvalue()


def row(**said: Any) -> Row:
    """As it is sent: instants as text. A long text that is not said was not sent again."""
    told = USUAL | {"description": UNSENT} | said
    return {k: v.isoformat().replace("+00:00", "Z") if isinstance(v, datetime) else v
            for k, v in told.items()}  # fmt: skip


def change(
    table: str, op: str, lsn: int, now: Row | None = None, was: Row | None = None,
    snapshot: str = "false", minute: float | None = None,
) -> tuple[str, bytes | None]:  # fmt: skip
    """One that the database committed at that minute, by default that of its place in the log."""
    millis = int(at(lsn if minute is None else minute).timestamp() * 1000)
    block = {"id": f"5:{lsn}", "total_order": 1, "data_collection_order": 1}
    return table, value(table, {
        "op": op, "before": was and row(**was), "after": now and row(**now),
        "source": {"lsn": lsn, "ts_ms": millis, "txId": 5, "snapshot": snapshot},
        "transaction": block if snapshot == "false" else None,
    })  # fmt: skip


def delivered(*records: tuple[str, bytes | None]) -> list[Delivered]:
    offsets: dict[str, int] = defaultdict(int)
    found = []
    for n, (table, said) in enumerate(records):
        topic = f"storefront.public.{table}"
        found.append(Delivered(topic, 0, offsets[topic], at(100 + n), None, said))
        offsets[topic] += 1
    return found


def told(*records: tuple[str, bytes | None]) -> Truth:
    return expected(delivered(*records), schemas_of=schemas_of)


def seen(rows: list[Row], *columns: str) -> list[Any]:
    """In their order; of one column the values."""
    found = [tuple(row[name] for name in columns) for row in rows]
    return [values[0] for values in found] if len(columns) == 1 else found
