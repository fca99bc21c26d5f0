"""How single values of the vendors' JSON are read: what is not of its kind is nothing."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.webhooks.countries import COUNTRIES, CURRENCIES

Row = dict[str, Any]
Json = dict[str, Any]

CENT = Decimal("0.01")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAMES = {country.name.lower(): code for code, country in COUNTRIES.items()}

_NUMERIC = re.compile(r"-?\d{1,16}(\.\d{1,9})?", re.ASCII)
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII
)


def inside(said: Any, *path: str) -> Any:
    """What lies there, if every step of the way is an object."""
    for name in path:
        said = said.get(name) if isinstance(said, dict) else None
    return said


def text(said: Any) -> str | None:
    """Trimmed, and nothing if empty; numbers as they are written."""
    if isinstance(said, int) and not isinstance(said, bool):
        return str(said)
    return (said.strip(" ") or None) if isinstance(said, str) else None


def lower(said: Any) -> str | None:
    found = text(said)
    return found and found.lower()


def upper(said: Any) -> str | None:
    found = text(said)
    return found and found.upper()


def whole(said: Any) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def country(said: Any) -> str | None:
    """ISO 3166 alpha-2, or the English name of a country that we know."""
    found = text(said) or ""
    return found.upper() if re.fullmatch("[A-Za-z]{2}", found) else NAMES.get(found.lower())


def amount(said: Any) -> Decimal | None:
    """Money as text, in units."""
    found = text(said)
    return Decimal(found).quantize(CENT) if found and _NUMERIC.fullmatch(found) else None


def units(minor: Any, currency: str | None) -> Decimal | None:
    """Smallest units in units; None where only a known currency could tell."""
    found, digits = whole(minor), CURRENCIES.get(currency or "")
    if found is None or digits is None:
        return None
    return Decimal(found).scaleb(-digits).quantize(CENT)


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
    found = whole(count)
    return None if found is None else EPOCH + found * unit


def orderable(value: Any) -> tuple[Any, ...]:
    """Nulls first, text by its UTF-8 bytes."""
    if value is None:
        return (0,)
    return (1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def missing(row: Row, columns: Iterable[str]) -> list[str]:
    """The rules that it breaks."""
    return [f"{name}_present" for name in columns if row[name] is None]
