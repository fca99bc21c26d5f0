"""What every table must hold after some deliveries of `payment_charges`, from their bytes alone.

It is the oracle of tests, demo and chaos, so it shares no code with the engine, the layers or
Spark, and it is written for reading, not for speed. Text is trimmed of spaces, as SQL's `trim` does
it. Instants are UTC with microseconds, money is Decimal, and rows come sorted by their key.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple
from zlib import crc32

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments_record import COLUMNS
from lakehouse_assets.sources.payments_truth_raw import (
    CENT,
    METADATA,
    Row,
    parse,
)

Truth = dict[str, list[Row]]  # table: its rows

RAW, STAGING, SEMANTIC, MART, QUARANTINE = (
    "raw.payment_charges", "staging.stg_payment_charges", "semantic.payments",
    "marts.payments_daily", "metadata.quarantine",
)  # fmt: skip
CURRENCIES = frozenset({
    "USD", "EUR", "GBP", "CAD", "AUD", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "BRL", "MXN",
    "INR", "SGD", "NZD",
})  # fmt: skip
AHEAD = timedelta(minutes=5)  # how far an event's clock may run ahead of Kafka's
NULL_SPELLINGS = ("", "null", "none", "n/a", "nil")
_RENAMED = {"metadata": METADATA, "3ds_authenticated": ("is_3ds_authenticated",)}
CONTENT = (  # the columns that decide between versions of equal `updated_at`, in this order
    *(name for column in COLUMNS for name in _RENAMED.get(column, (column,))),
    "is_dirty",
)


class Delivered(NamedTuple):
    """A record as it was read back from Kafka; `arrived_at` is Kafka's own timestamp."""

    partition: int
    offset: int
    arrived_at: datetime
    value: bytes | None


def delivered(
    events: Iterable[Event],
    start: datetime,
    interval: timedelta = timedelta(milliseconds=500),
    partitions: int = 4,
) -> list[Delivered]:
    """Stand in for Kafka: partitions by key, offsets from 0, one arrival per interval."""
    offsets: dict[int, int] = defaultdict(int)
    records = []
    for number, event in enumerate(events):
        place = crc32(event.key or str(number).encode()) % partitions
        arrived_at = start + number * interval
        records.append(Delivered(place, offsets[place], arrived_at, event.value))
        offsets[place] += 1
    return records


def expected(records: Iterable[Delivered]) -> Truth:
    """The rows of every table; the order of the records does not matter, their offsets say it."""
    raw: list[Row] = []
    accepted: list[Row] = []
    quarantine: list[Row] = []
    for record in sorted(records, key=lambda record: record[:2]):
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        parsed = parse(record.value)
        unknown = {"error": parsed.error, "has_unknown_fields": parsed.has_unknown_fields}
        raw.append(place | unknown | parsed.row)
        if parsed.error:
            quarantine.append(place | {"stage": "parse", "reason": parsed.error})
            continue
        row = cleaned(parsed.row) | {"arrived_at": record.arrived_at}
        reason = refused(row)
        if reason:
            quarantine.append(place | {"stage": "staging", "reason": reason})
        else:
            accepted.append(row)
    staging = _winners(accepted, "event_id")
    semantic = _winners(staging, "charge_id")
    return {
        RAW: raw,
        STAGING: staging,
        SEMANTIC: semantic,
        MART: _daily(semantic),
        QUARANTINE: quarantine,
    }


def cleaned(raw: Row) -> Row:
    """A staging row without `arrived_at`, its columns in the order of CONTENT."""
    flat = {**raw, **(raw["metadata"] or dict.fromkeys(METADATA))}
    del flat["metadata"]
    row: Row = {name: _clean_text(value) if isinstance(value, str) else value
                for name, value in flat.items()}  # fmt: skip
    is_dirty = any(row[name] is None and flat[name] is not None for name in flat)
    for column in ("event_type", "status", "risk_level"):
        row[column] = row[column] and row[column].lower()
    for country in ("card_country", "billing_country"):
        if row[country] is not None and not re.fullmatch("[A-Z]{2}", row[country]):
            row[country], is_dirty = None, True
    currency = row["currency"] and row["currency"].upper()
    is_dirty |= currency != row["currency"] or row["billing_postal_code"] is None
    row["currency"] = currency
    row["provider"] = row["provider"] and row["provider"].upper()
    if row["risk_score"] is not None and not 0 <= row["risk_score"] <= 100:
        row["risk_score"], is_dirty = None, True
    row["is_3ds_authenticated"] = _boolean(row["3ds_authenticated"])
    row["is_dirty"] = is_dirty
    return {name: row[name] for name in CONTENT}


def _absent_or(column: str, holds: Callable[[Any], bool]) -> Callable[[Row], bool]:
    """A missing value is judged by the rule that it be present, and by no other."""
    return lambda row: row[column] is None or holds(row[column])


def _on_time(column: str) -> Callable[[Row], bool]:
    return lambda row: row[column] is None or row[column] <= row["arrived_at"] + AHEAD


RULES: dict[str, Callable[[Row], bool]] = {  # in the order in which reasons are given
    "event_id_present": lambda row: row["event_id"] is not None,
    "provider_present": lambda row: row["provider"] is not None,
    "charge_id_present": lambda row: row["charge_id"] is not None,
    "amount_present": lambda row: row["amount"] is not None,
    "amount_not_negative": _absent_or("amount", lambda amount: amount >= 0),
    "currency_known": _absent_or("currency", lambda currency: currency in CURRENCIES),
    "created_at_present": lambda row: row["created_at"] is not None,
    "updated_at_present": lambda row: row["updated_at"] is not None,
    "created_not_in_future": _on_time("created_at"),
    "updated_not_in_future": _on_time("updated_at"),
}


def refused(row: Row) -> str | None:
    """The rules that a cleaned row breaks."""
    return ", ".join(name for name, holds in RULES.items() if not holds(row)) or None


def _clean_text(value: str) -> str | None:
    trimmed = value.strip(" ")
    return None if trimmed.lower() in NULL_SPELLINGS else trimmed


def _boolean(value: str | None) -> bool | None:
    said = (value or "").lower()
    if said in ("true", "yes", "y", "1", "t"):
        return True
    return False if said in ("false", "no", "n", "0", "f") else None


def _orderable(value: Any) -> tuple[Any, ...]:
    """Nulls first, text by its UTF-8 bytes."""
    if value is None:
        return (0,)
    return (1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def _version(row: Row) -> tuple[Any, ...]:
    return (row["updated_at"], *(_orderable(row[name]) for name in CONTENT))


def _winners(rows: Iterable[Row], key: str) -> list[Row]:
    """One row per key: the newest, then the greatest content, then the earliest to arrive."""
    best: dict[str, tuple[tuple[Any, ...], Row]] = {}
    for row in rows:
        version = _version(row)
        held = best.get(row[key])
        if (
            held is None
            or version > held[0]
            or (version == held[0] and row["arrived_at"] < held[1]["arrived_at"])
        ):
            best[row[key]] = (version, row)
    return [best[name][1] for name in sorted(best)]


def _daily(payments: Iterable[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    settled: dict[tuple[Any, ...], list[bool]] = defaultdict(list)
    for row in payments:
        day = row["created_at"].date()
        groups[day, row["provider"], row["status"], row["currency"]].append(row)
        settled[day, row["provider"], row["currency"]].append(row["status"] == "failed")
    daily = []
    for key in sorted(groups, key=lambda key: [_orderable(part) for part in key]):
        day, provider, status, currency = key
        rows, failed = groups[key], settled[day, provider, currency]
        amount = sum((row["amount"] for row in rows), Decimal(0))
        daily.append({
            "created_on": day,
            "provider": provider,
            "status": status,
            "currency": currency,
            "payments": len(rows),
            "amount": amount,
            "average_amount": (amount / len(rows)).quantize(CENT, ROUND_HALF_UP),
            "failure_rate": sum(failed) / len(failed),
            "dirty_share": sum(row["is_dirty"] for row in rows) / len(rows),
        })  # fmt: skip
    return daily
