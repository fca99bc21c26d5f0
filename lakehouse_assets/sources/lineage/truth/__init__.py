"""What raw must hold after some lineage events: from the bytes alone, by a decoder of its own.

It is the oracle of tests, demo and chaos, so it shares no code with the engine, the layers or
Spark, nor with the generator's Avro library. A record is the schema's two fields and not a byte
more, and its uuid is one; else it is an error row. `checkpoint_id` is outside the truth: it tells
how often the lake had to try.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from lakehouse_assets.sources.lineage.dirt import TOPIC
from lakehouse_assets.sources.oracle import (
    LONG_AGO,
    MALFORMED,
    NULL_VALUE,
    PLACE,
    QUARANTINE,
    Delivered,
    delivered,
    hour,
)

__all__ = ["ENTITIES", "GIVEN", "KEYS", "QUARANTINE", "RAW", "Delivered", "delivered", "expected"]

Row = dict[str, Any]
RAW = {TOPIC: "raw.lineage_events"}
KEYS: dict[str, tuple[str, ...]] = {RAW[TOPIC]: PLACE, QUARANTINE: ("source_table", *PLACE)}
GIVEN: tuple[str, ...] = ()
ENTITIES: tuple[str, ...] = ()

NO_UUID = "wrong type: uuid is no uuid"
MOST = 10  # bytes that a number takes
_UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class _MalformedError(ValueError):
    pass


def expected(records: Iterable[Delivered], first_hour: datetime = LONG_AGO) -> dict[str, list[Row]]:
    """The rows of every table; `first_hour`: the lake's first, which takes everything older."""
    truth: dict[str, list[Row]] = {name: [] for name in KEYS}
    for record in sorted(records, key=lambda record: record[:3]):
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        error, told = parse(record.value)
        begin = hour(record, first_hour)
        lies = {"year": f"{begin:%Y}", "month": f"{begin:%m}", "day": f"{begin:%d}",
                "hour": f"{begin:%H}"}  # fmt: skip
        arrival = {"arrived_at": record.arrived_at, "ingest_hour": begin, "kafka_topic": TOPIC}
        rest = {"error": error, "has_unknown_fields": False}
        truth[RAW[TOPIC]].append(place | told | arrival | lies | rest)
        if error:
            why = {"source_table": RAW[TOPIC], "stage": "parse", "reason": error}
            truth[QUARANTINE].append(place | why)
    return truth


def parse(value: bytes | None) -> tuple[str | None, Row]:
    """Why it is an error, and its fields."""
    nothing: Row = {"uuid": None, "timestamp": None}
    if value is None:
        return NULL_VALUE, nothing
    try:
        length, at = _number(value, 0)
        if length < 0 or at + length > len(value):
            raise _MalformedError
        uuid = value[at : at + length]
        timestamp, end = _number(value, at + length)
        if end != len(value):
            raise _MalformedError
    except _MalformedError:
        return MALFORMED, nothing
    if not _UUID.fullmatch(uuid):
        return NO_UUID, nothing
    return None, {"uuid": uuid.decode(), "timestamp": timestamp}


def _number(value: bytes, at: int) -> tuple[int, int]:
    """Avro's long, which starts there, and where it ends."""
    bits = 0
    for place, byte in enumerate(value[at : at + MOST]):
        bits |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            bits &= (1 << 64) - 1
            return (bits >> 1) ^ -(bits & 1), at + place + 1
    raise _MalformedError
