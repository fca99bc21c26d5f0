"""How single values of the vendors' JSON are read: what is not of its kind is nothing."""

import json
import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.webhooks.countries import COUNTRIES, CURRENCIES

Row = dict[str, Any]
Tables = dict[str, list[Row]]  # by name

CENT = Decimal("0.01")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAMES = {country.name.lower(): code for code, country in COUNTRIES.items()}

LIMIT = 2**63  # of whole numbers
MOST = Decimal(10) ** 16  # units of money

_NUMERIC = re.compile(r"-?\d{1,15}(\.\d{1,9})?", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def nested(said: str | None) -> Any:
    """The JSON that raw kept as text."""
    try:
        return json.loads(said or "null")
    except ValueError:
        return None


def inside(said: Any, *path: str) -> Any:
    """What lies there, if every step of the way is an object."""
    for name in path:
        said = said.get(name) if isinstance(said, dict) else None
    return said


def text(said: Any) -> str | None:
    """Trimmed, and nothing if empty; what is no text as JSON writes it."""
    if said is None:
        return None
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return said.strip(" ") or None


def lower(said: Any) -> str | None:
    found = text(said)
    return found and found.lower()


def upper(said: Any) -> str | None:
    found = text(said)
    return found and found.upper()


def whole(said: Any) -> int | None:
    is_one = isinstance(said, int) and not isinstance(said, bool) and -LIMIT <= said < LIMIT
    return said if is_one else None


def whole_text(said: str | None) -> int | None:
    return int(said) if said and _WHOLE.fullmatch(said) else None


def country(said: Any) -> str | None:
    """ISO 3166 alpha-2, or the English name of a country that we know."""
    found = text(said) or ""
    return found.upper() if re.fullmatch("[A-Za-z]{2}", found) else NAMES.get(found.lower())


def amount(said: Any) -> Decimal | None:
    """Money as text, in units."""
    found = text(said)
    if not found or not _NUMERIC.fullmatch(found):
        return None
    return Decimal(found).quantize(CENT, ROUND_HALF_UP) + 0  # + 0: no negative zero


def units(minor: Any, currency: str | None) -> Decimal | None:
    """Smallest units in units; None where only a known currency could tell."""
    found, digits = whole(minor), CURRENCIES.get(currency or "")
    if found is None or digits is None:
        return None
    in_units = Decimal(found).scaleb(-digits)
    return in_units.quantize(CENT) if abs(in_units) < MOST else None


def total(amounts: Iterable[Decimal | None]) -> Decimal:
    """Of those that are known."""
    return sum((a for a in amounts if a is not None), Decimal(0)).quantize(CENT)


def instant(said: Any) -> datetime | None:
    """ISO 8601 with a zone, in UTC."""
    if not isinstance(said, str) or not _INSTANT.fullmatch(said):
        return None
    head, fraction, zone = re.split(r"(?<=:\d\d)(\.\d+)?(?=Z|[+-]\d\d:)", said, maxsplit=1)
    micros = int((fraction or ".0")[1:].ljust(6, "0"))
    try:
        local = datetime.fromisoformat(head + zone.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (local + timedelta(microseconds=micros)).astimezone(timezone.utc)


def after_epoch(count: Any, unit: timedelta) -> datetime | None:
    """An instant of the years 1 to 9999."""
    found = whole(count)
    try:
        return None if found is None else EPOCH + found * unit
    except OverflowError:
        return None


def orderable(value: Any) -> tuple[Any, ...]:
    """Nulls first, text by its UTF-8 bytes."""
    if value is None:
        return (0,)
    return (1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)
