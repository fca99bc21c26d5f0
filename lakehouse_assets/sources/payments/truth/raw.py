"""What one Kafka record of a payments topic must become in raw, by the json module alone.

Strict on purpose: a record is one JSON object in UTF-8, of the types below, or an error. A string
column takes a number or a boolean as its JSON text. NaN, a second value after the first, a number
for an instant and text for an integer are errors. On the keyed topics a null value is a deletion.
"""

import json
import re
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple, NoReturn

from lakehouse_assets.sources.payments.record import CUSTOMERS, MERCHANTS, SHAPES

Row = dict[str, Any]

NULL_VALUE, INVALID_UTF8 = "null value", "invalid utf-8"
MALFORMED, WRONG_TYPE = "malformed", "wrong type"

KEYED = (CUSTOMERS.topic, MERCHANTS.topic)
INTEGERS = ("card_exp_month", "card_exp_year", "risk_score", "discount_percent", "document_count")
MONEY = ("amount", "plan_amount")
OBJECTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("payment_charges", "metadata"): ("order_id", "user_email", "subscription_id"),
    ("payment_refunds", "metadata"): (
        "refund_requested_by", "original_order_id", "support_ticket_id",
    ),
    ("payment_disputes", "evidence"): ("customer_communication", "receipt_id", "metadata"),
    ("payment_disputes", "evidence.metadata"): ("submitted_by", "document_count"),
}  # fmt: skip
COLUMNS = {shape.topic: shape.columns for shape in SHAPES}
CENT, AMOUNT_LIMIT = Decimal("0.01"), Decimal(10) ** 8  # decimal(10, 2)

_NUMERIC = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


class Parsed(NamedTuple):
    """`row` holds every column; all of them None when there is an error."""

    error: str | None
    row: Row
    has_unknown_fields: bool


class _Integer(str):
    """A JSON number without fraction or exponent, as written."""


class _Fraction(str):
    """Any other JSON number, as written."""


class _WrongTypeError(ValueError):
    pass


def parse(topic: str, value: bytes | None) -> Parsed:
    nothing = dict.fromkeys(COLUMNS[topic])
    if value is None:
        return Parsed(None if topic in KEYED else NULL_VALUE, nothing, False)
    try:
        read = json.loads(
            value.decode(),
            parse_int=_Integer, parse_float=_Fraction, parse_constant=_refuse,
        )  # fmt: skip
    except UnicodeDecodeError:
        return Parsed(INVALID_UTF8, nothing, False)
    except (ValueError, RecursionError):
        return Parsed(MALFORMED, nothing, False)
    if not isinstance(read, dict):
        return Parsed(MALFORMED, nothing, False)
    unknown: set[str] = set()
    try:
        row = _members(topic, "", COLUMNS[topic], read, unknown)
    except _WrongTypeError:
        return Parsed(WRONG_TYPE, nothing, False)
    return Parsed(None, row, bool(unknown))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _members(
    topic: str, path: str, names: tuple[str, ...], read: dict[str, Any], unknown: set[str]
) -> Row:
    unknown |= {f"{path}.{name}" for name in set(read) - set(names)}
    row: Row = {}
    for name in names:
        inner, value = f"{path}.{name}".strip("."), read.get(name)
        if (topic, inner) not in OBJECTS:
            row[name] = _typed(name, value)
        elif value is None:
            row[name] = None
        elif isinstance(value, dict):
            row[name] = _members(topic, inner, OBJECTS[topic, inner], value, unknown)
        else:
            raise _WrongTypeError(inner)
    return row


def _typed(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column in MONEY:
        return _amount(value)
    if column in INTEGERS:
        return _integer(value)
    return _instant(value) if column.endswith("_at") else _string(value)


def _string(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise _WrongTypeError("an object or an array")


def _integer(value: Any) -> int:
    if isinstance(value, _Integer) and len(value) <= 11 and -(2**31) <= int(value) < 2**31:
        return int(value)
    raise _WrongTypeError(value)


def _amount(value: Any) -> Decimal:
    if not isinstance(value, str) or not _NUMERIC.fullmatch(value):
        raise _WrongTypeError(value)
    try:
        amount = Decimal(value).quantize(CENT, ROUND_HALF_UP) + 0  # + 0: no negative zero
    except InvalidOperation:
        raise _WrongTypeError(value) from None
    if abs(amount) >= AMOUNT_LIMIT:
        raise _WrongTypeError(value)
    return amount


def _instant(value: Any) -> datetime:
    """UTC to the microsecond, finer digits cut off; without a zone it is UTC."""
    if isinstance(value, (_Integer, _Fraction)) or not isinstance(value, str):
        raise _WrongTypeError(value)
    found = _INSTANT.fullmatch(value)
    if not found:
        raise _WrongTypeError(value)
    day, clock, fraction, zone = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    offset = "+00:00" if zone in (None, "Z") else zone
    try:
        local = datetime.fromisoformat(f"{day}T{clock}{offset}")
        return (local + timedelta(microseconds=micros)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise _WrongTypeError(value) from None
