"""Events one after the other, each a record of `deploy/schemas/input_event.avsc`."""

import io
import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import cache
from hashlib import blake2b
from itertools import count as counting
from typing import Any
from uuid import UUID

from fastavro import parse_schema, schemaless_writer

from lakehouse_assets import settings
from lakehouse_assets.sources.dirt import Schedule
from lakehouse_assets.sources.event import CLEAN, Event, token
from lakehouse_assets.sources.lineage.dirt import TOPIC, Dirt

SCHEMA = settings.ROOT / "deploy" / "schemas" / "input_event.avsc"
INTERVAL = timedelta(milliseconds=100)
PARTITIONS = 10

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_VERSION = 0x4 << 76, 0xF << 76  # of random ones, and where in the number it stands
_VARIANT = 0x2 << 62, 0x3 << 62
# What others would write: one that has as many fields of the same kinds, one whose time is text,
# one with a field more, and ours behind a registry's five bytes.
OTHERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("name", "string"), ("count", "long")),
    (("uuid", "string"), ("timestamp", "string")),
    (("uuid", "string"), ("timestamp", "long"), ("source", "string")),
)
CLEAN_ONLY = Dirt.only()


def events(
    seed: int,
    count: int | None,
    start: datetime,
    dirt: Dirt = CLEAN_ONLY,
    interval: timedelta = INTERVAL,
    sent_from: datetime | None = None,
) -> Iterator[Event]:
    """`count` events, or without end, one every interval; the same arguments, the same bytes.

    `sent_from`: leave out what was made before.
    """
    if start.tzinfo is None or interval < timedelta(0):
        raise ValueError(f"start needs a time zone, interval >= 0; got {start!r}, {interval!r}")
    schedule, run = Schedule(f"{TOPIC}/{seed}", dirt.rates()), token(seed, start, interval, dirt)
    began, step = (start - _UNIX_EPOCH) // _MICROSECOND, interval // _MICROSECOND
    first = 0
    if sent_from and interval:
        first = max(0, -(-(sent_from - start) // interval))
    for slot in counting() if count is None else range(first + count):
        kind = schedule.at(slot)
        if slot < first:
            continue
        made = (began + slot * step) // 1000
        value = _record(f"{run}/{slot}", made, kind, schedule.turn(kind) if kind != CLEAN else 0)
        yield Event(None, value, TOPIC, kind, made)


def uuid_of(name: str) -> UUID:
    """One for each name, spelled like the random ones."""
    number = int.from_bytes(blake2b(name.encode(), digest_size=16).digest(), "big")
    for bits, mask in (_VERSION, _VARIANT):
        number = number & ~mask | bits
    return UUID(int=number)


def encoded(uuid: str, timestamp: int) -> bytes:
    return _written(_schema(), {"uuid": uuid, "timestamp": timestamp})


def _record(name: str, made: int, kind: str, turn: int) -> bytes | None:
    whole = encoded(str(uuid_of(name)), made)
    if kind == "null_value":
        return None
    if kind == "undecodable":
        return (whole[:20], whole + b"\0", b'{"uuid": "no Avro"}', b"", b"\xff" * 12)[turn % 5]
    if kind == "other_schema":
        turn %= len(OTHERS) + 1
        if turn == len(OTHERS):
            return b"\0\0\0\0\1" + whole
        told: dict[str, Any] = {"uuid": name, "timestamp": str(made), "name": "x", "count": turn,
                                "source": "elsewhere"}  # fmt: skip
        told["timestamp"] = made if OTHERS[turn][1][1] == "long" else str(made)
        return _written(_other(OTHERS[turn]), told)
    return whole


def _written(schema: Any, told: dict[str, Any]) -> bytes:
    into = io.BytesIO()
    schemaless_writer(into, schema, told)
    return into.getvalue()


@cache
def _schema() -> Any:
    return parse_schema(json.loads(SCHEMA.read_text()))


@cache
def _other(fields: tuple[tuple[str, str], ...]) -> Any:
    named = [{"name": name, "type": kind} for name, kind in fields]
    return parse_schema({"type": "record", "name": "Other", "fields": named})
