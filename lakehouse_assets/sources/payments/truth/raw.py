"""What one Kafka record of a payments topic must become in raw, by the json module alone.

Strict on purpose: a record is one JSON object in UTF-8, of the types below, or an error. A string
column takes a number or a boolean as its JSON text. NaN, a second value after the first, a number
for an instant and text for an integer are errors. On the keyed topics a null value is a deletion.
"""

import json
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from lakehouse_assets.sources.oracle import (
    INVALID_UTF8,
    MALFORMED,
    NULL_VALUE,
    WRONG_TYPE,
    Fraction,
    Integer,
    Parsed,
    WrongTypeError,
    instant,
    no_constant,
)
from lakehouse_assets.sources.payments.record import CUSTOMERS, MERCHANTS, SHAPES

Row = dict[str, Any]

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


def parse(topic: str, value: bytes | None) -> Parsed:
    nothing = dict.fromkeys(COLUMNS[topic])
    if value is None:
        return Parsed(None if topic in KEYED else NULL_VALUE, nothing, False)
    try:
        read = json.loads(
            value.decode(),
            parse_int=Integer, parse_float=Fraction, parse_constant=no_constant,
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
    except WrongTypeError:
        return Parsed(WRONG_TYPE, nothing, False)
    return Parsed(None, row, bool(unknown))


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
            raise WrongTypeError(inner)
    return row


def _typed(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column in MONEY:
        return _amount(value)
    if column in INTEGERS:
        return _integer(value)
    return instant(value) if column.endswith("_at") else _string(value)


def _string(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise WrongTypeError("an object or an array")


def _integer(value: Any) -> int:
    if isinstance(value, Integer) and len(value) <= 11 and -(2**31) <= int(value) < 2**31:
        return int(value)
    raise WrongTypeError(value)


def _amount(value: Any) -> Decimal:
    if not isinstance(value, str) or not _NUMERIC.fullmatch(value):
        raise WrongTypeError(value)
    try:
        amount = Decimal(value).quantize(CENT, ROUND_HALF_UP) + 0  # + 0: no negative zero
    except InvalidOperation:
        raise WrongTypeError(value) from None
    if abs(amount) >= AMOUNT_LIMIT:
        raise WrongTypeError(value)
    return amount
