"""What the cleaned events mean: charges in one vocabulary, and the days' sums over them."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import (
    CHARGE_STATUSES,
    CURRENCIES,
    FAILURES,
)
from lakehouse_assets.sources.payments.truth.meaning import (
    Tables,
    meant,
    minor_units,
    newest,
    units,
    whole,
)
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

CHARGES, CUSTOMERS, MERCHANTS = (
    f"staging.stg_payment_{topic}" for topic in ("charges", "customers", "merchants")
)
TOLD_OF = {  # what a charge says of whom, as it was then
    CUSTOMERS: ("customer_id", {"customer_country": "country", "customer_segment": "segment",
                                "signed_up_at": "signed_up_at"}),
    MERCHANTS: ("merchant_id", {"merchant_country": "country", "merchant_category": "category",
                                "onboarded_at": "onboarded_at"}),
}  # fmt: skip
PAYMENTS, PAYMENTS_DAILY = "semantic.payments", "marts.payments_daily"
KEYS: dict[str, tuple[str, ...]] = {
    PAYMENTS: ("charge_id",),
    PAYMENTS_DAILY: ("created_on", "provider", "status", "currency"),
}


def tables(staged: Tables) -> Tables:
    payments = [_payment(row) for row in newest(staged[CHARGES], "charge_id")]
    for table, (who, columns) in TOLD_OF.items():
        histories: dict[str, list[Row]] = defaultdict(list)
        for version in staged[table]:
            histories[version[who]].append(version)
        payments = [row | _then(row, histories[row[who] or ""], columns) for row in payments]
    return {PAYMENTS: payments, PAYMENTS_DAILY: _daily(payments)}


def _then(row: Row, history: list[Row], columns: dict[str, str]) -> Row:
    """What was known of somebody when the charge was made."""
    before = [version for version in history if version["changed_at"] <= row["created_at"]]
    last = max(before, key=lambda version: version["changed_at"], default={})
    return {column: last.get(told) for column, told in columns.items()}


def _payment(row: Row) -> Row:
    digits = CURRENCIES.get(row["currency"] or "")
    said = row["provider_amount"]
    return row | {
        "status": meant(CHARGE_STATUSES, row["provider"], row["provider_status"]),
        "failure_category": meant(FAILURES, row["provider"], row["failure_code"]),
        "amount": units(row, said),
        "amount_minor": whole(minor_units(row, said)),
        "currency_exponent": digits,
    }


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
