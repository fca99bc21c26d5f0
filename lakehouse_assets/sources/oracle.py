"""What every source's truth begins with: records as Kafka delivered them, JSON read strictly."""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, NoReturn
from zlib import crc32

from lakehouse_assets.sources.event import Event

LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)
QUARANTINE = "metadata.quarantine"
PLACE = ("kafka_partition", "kafka_offset")

NULL_VALUE, INVALID_UTF8 = "null value", "invalid utf-8"
MALFORMED, WRONG_TYPE = "malformed", "wrong type"

_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


class Delivered(NamedTuple):
    """A record as it was read back from Kafka; `arrived_at` is Kafka's own timestamp."""

    topic: str
    partition: int
    offset: int
    arrived_at: datetime
    key: bytes | None
    value: bytes | None


class Parsed(NamedTuple):
    """What raw must hold of one record; every column of `row` is None when there is an error.
    `has_unknown_fields`: some field has no column, so the bytes are kept.
    """

    error: str | None
    row: dict[str, Any]
    has_unknown_fields: bool


class Integer(str):
    """A JSON number without fraction or exponent, as written."""


class Fraction(str):
    """Any other JSON number, as written."""


class WrongTypeError(ValueError):
    """A value that is none of its column's type."""


def delivered(
    events: Iterable[Event],
    start: datetime,
    interval: timedelta = timedelta(milliseconds=500),
    partitions: int = 4,
) -> list[Delivered]:
    """Stand in for Kafka: partitions by key, offsets from 0, one arrival per interval."""
    offsets: dict[tuple[str, int], int] = defaultdict(int)
    records = []
    for number, event in enumerate(events):
        place = crc32(event.key or str(number).encode()) % partitions
        offset = offsets[event.topic, place]
        arrived_at = start + number * interval
        records.append(Delivered(event.topic, place, offset, arrived_at, event.key, event.value))
        offsets[event.topic, place] += 1
    return records


def hour(record: Delivered, first: datetime) -> datetime:
    """In which it lies in the lake, whose first one takes everything older."""
    return max(record.arrived_at.replace(minute=0, second=0, microsecond=0), first)


def no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def instant(value: Any) -> datetime:
    """UTC to the microsecond, finer digits cut off; without a zone it is UTC."""
    if isinstance(value, (Integer, Fraction)) or not isinstance(value, str):
        raise WrongTypeError(value)
    found = _INSTANT.fullmatch(value)
    if not found:
        raise WrongTypeError(value)
    day, clock, fraction, zone = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    offset = "+00:00" if zone in (None, "Z") else zone
    try:
        local = datetime.fromisoformat(f"{day}T{clock}{offset}")
        return (local + timedelta(microseconds=micros)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise WrongTypeError(value) from None
