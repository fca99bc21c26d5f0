"""What one Kafka record of `payment_charges` must become in raw, by the json module alone.

Strict on purpose: a record is one JSON object in UTF-8, of the types below, or an error. A string
column takes a number or a boolean as its JSON text. NaN, a second value after the first, a number
for an instant and text for an integer are errors.
"""

import json
import re
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple, NoReturn

from lakehouse_assets.sources.payments_record import COLUMNS

Row = dict[str, Any]

NULL_VALUE, INVALID_UTF8 = "null value", "invalid utf-8"
MALFORMED, WRONG_TYPE = "malformed", "wrong type"

METADATA = ("order_id", "user_email", "subscription_id")
INTEGERS = ("card_exp_month", "card_exp_year", "risk_score")
INSTANTS = ("created_at", "updated_at")
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


def parse(value: bytes | None) -> Parsed:
    if value is None:
        return _error(NULL_VALUE)
    try:
        read = json.loads(
            value.decode(),
            parse_int=_Integer, parse_float=_Fraction, parse_constant=_refuse,
        )  # fmt: skip
    except UnicodeDecodeError:
        return _error(INVALID_UTF8)
    except (ValueError, RecursionError):
        return _error(MALFORMED)
    if not isinstance(read, dict):
        return _error(MALFORMED)
    try:
        row = {column: _typed(column, read.get(column)) for column in COLUMNS}
    except _WrongTypeError:
        return _error(WRONG_TYPE)
    unknown = set(read) - set(COLUMNS) | set(read.get("metadata") or ()) - set(METADATA)
    return Parsed(None, row, bool(unknown))


def _error(category: str) -> Parsed:
    return Parsed(category, dict.fromkeys(COLUMNS), False)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _typed(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column == "metadata":
        if not isinstance(value, dict):
            raise _WrongTypeError(column)
        return {name: _string(value.get(name)) for name in METADATA}
    if column == "amount":
        return _amount(value)
    if column in INTEGERS:
        return _integer(value)
    return _instant(value) if column in INSTANTS else _string(value)


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
