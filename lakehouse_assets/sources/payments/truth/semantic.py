"""What the cleaned events mean: charges in one vocabulary, and the days' sums over them."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import (
    CHARGE_STATUSES,
    CURRENCIES,
    FAILURES,
    IN_MINOR_UNITS,
    Meanings,
)
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

PAYMENTS, PAYMENTS_DAILY = "semantic.payments", "marts.payments_daily"
KEYS: dict[str, tuple[str, ...]] = {
    PAYMENTS: ("charge_id",),
    PAYMENTS_DAILY: ("created_on", "provider", "status", "currency"),
}


def tables(charges: list[Row]) -> dict[str, list[Row]]:
    payments = [_payment(row) for row in _newest(charges, "charge_id")]
    return {PAYMENTS: payments, PAYMENTS_DAILY: _daily(payments)}


def _newest(rows: Iterable[Row], key: str) -> list[Row]:
    """The event with the last word, one for each key; of two at the same instant the greater id."""
    best: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: (row["updated_at"], row["event_id"].encode())):
        best[row[key]] = row
    return [best[name] for name in sorted(best)]


def _payment(row: Row) -> Row:
    digits = CURRENCIES.get(row["currency"] or "")
    said, whole = row["amount"], row["provider"] in IN_MINOR_UNITS
    if digits is None:
        minor, amount = (said if whole else None), (None if whole else said)
    else:
        minor = said if whole else said * 10**digits
        amount = said / 10**digits if whole else said
    return row | {
        "status": meant(CHARGE_STATUSES, row["provider"], row["status"]),
        "provider_status": row["status"],
        "failure_category": meant(FAILURES, row["provider"], row["failure_code"]),
        "amount": None if amount is None else amount.quantize(CENT, ROUND_HALF_UP),
        "amount_minor": None if minor is None else int(minor.quantize(Decimal(1), ROUND_HALF_UP)),
        "currency_exponent": digits,
    }


def meant(meanings: Meanings, provider: str, word: str | None) -> str | None:
    for meaning, words in meanings.get(provider, {}).items():
        if (word or "").lower() in [said.lower() for said in words]:
            return meaning
    return None


def _daily(payments: Iterable[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    settled: dict[tuple[Any, ...], list[bool]] = defaultdict(list)
    for row in payments:
        day = row["created_at"].date()
        groups[day, row["provider"], row["status"], row["currency"]].append(row)
        settled[day, row["provider"], row["currency"]].append(row["status"] == "failed")
    daily = []
    for key in sorted(groups, key=lambda key: [orderable(part) for part in key]):
        day, provider, status, currency = key
        rows, failed = groups[key], settled[day, provider, currency]
        amounts = [row["amount"] for row in rows if row["amount"] is not None]
        amount = sum(amounts, Decimal(0)).quantize(CENT) if amounts else None
        daily.append({
            "created_on": day,
            "provider": provider,
            "status": status,
            "currency": currency,
            "payments": len(rows),
            "amount": amount,
            "average_amount": None if amount is None
            else (amount / len(rows)).quantize(CENT, ROUND_HALF_UP),
            "failure_rate": sum(failed) / len(failed),
            "dirty_share": sum(row["is_dirty"] for row in rows) / len(rows),
        })  # fmt: skip
    return daily
