"""What words and amounts mean, and which event of a thing has the last word."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import CURRENCIES, IN_MINOR_UNITS, Meanings
from lakehouse_assets.sources.payments.truth.raw import CENT, Row

Tables = dict[str, list[Row]]


def newest(rows: Iterable[Row], key: str) -> list[Row]:
    """The event with the last word, one for each key; of two at the same instant the greater id."""
    best: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: (row["updated_at"], row["event_id"].encode())):
        best[row[key]] = row
    return [best[name] for name in sorted(best)]


def meant(meanings: Meanings, provider: str, word: str | None) -> str | None:
    for meaning, words in meanings.get(provider, {}).items():
        if (word or "").lower() in [said.lower() for said in words]:
            return meaning
    return None


def minor_units(row: Row, amount: Decimal) -> Decimal | None:
    """In the smallest unit of the row's currency; None where only a known one could tell."""
    if row["provider"] in IN_MINOR_UNITS:
        return amount
    digits = CURRENCIES.get(row["currency"] or "")
    return None if digits is None else amount * 10**digits


def units(row: Row, amount: Decimal) -> Decimal | None:
    """In units of the row's currency, to the cent; None where only a known one could tell."""
    if row["provider"] in IN_MINOR_UNITS:
        digits = CURRENCIES.get(row["currency"] or "")
        if digits is None:
            return None
        amount = amount / 10**digits
    return amount.quantize(CENT, ROUND_HALF_UP)


def whole(minor: Decimal | None) -> int | None:
    return None if minor is None else int(minor.quantize(Decimal(1), ROUND_HALF_UP))
