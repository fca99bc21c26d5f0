"""What subscriptions bring, month by month: looked up at each month's end."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import CURRENCIES
from lakehouse_assets.sources.payments.truth.history import SUBSCRIPTIONS
from lakehouse_assets.sources.payments.truth.meaning import Tables
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

REVENUE = "marts.subscription_revenue_monthly"
KEYS: dict[str, tuple[str, ...]] = {REVENUE: ("month_on", "plan_currency")}

INSTANT = timedelta(microseconds=1)


def tables(staged: Tables) -> Tables:
    history = staged[SUBSCRIPTIONS]
    happened, by_currency = _happened(history), defaultdict(list)
    for row in history:
        by_currency[row["plan_currency"]].append(row)
    begun = [row["valid_from_at"] for row in history]
    monthly = []
    for currency, rows in by_currency.items():
        month, newest = _month(min(row["valid_from_at"] for row in rows)), max(begun)
        while month <= _month(newest):
            end = min(_next(month) - INSTANT, newest)
            counts = {
                what: happened[what, month.date(), currency]
                for what in ("new", "trials_converted", "churned")
            }
            first = {"month_on": month.date(), "plan_currency": currency}
            monthly.append(first | _standing(rows, currency, end) | counts)
            month = _next(month)
    monthly.sort(key=lambda row: (row["month_on"], orderable(row["plan_currency"])))
    return {REVENUE: monthly}


def _standing(rows: Iterable[Row], currency: str | None, at: datetime) -> Row:
    paying = [
        row
        for row in rows
        if row["is_paying"] and row["valid_from_at"] <= at
        and (row["valid_to_at"] is None or at < row["valid_to_at"])
    ]  # fmt: skip
    amounts = [row["monthly_amount_minor"] for row in paying if currency]
    priced = [amount for amount in amounts if amount is not None]
    minor = sum(priced) if currency else None
    units = None if minor is None else Decimal(minor) / 10 ** CURRENCIES[str(currency)]
    return {
        "mrr_minor": minor,
        "mrr": None if units is None else units.quantize(CENT),
        "subscriptions": len(paying),
        "unpriced": len(paying) - len(priced),
    }


def _happened(history: Iterable[Row]) -> Counter[tuple[str, date, Any]]:
    """How often each thing happened, by month and currency."""
    lives: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(history, key=lambda row: row["valid_from_at"]):
        lives[row["subscription_id"]].append(row)
    counts: Counter[tuple[str, date, Any]] = Counter()
    for life in lives.values():
        had_paid, was = False, None
        for row in life:
            month, currency = _month(row["valid_from_at"]).date(), row["plan_currency"]
            if row["is_paying"] and not had_paid:
                counts["new", month, currency] += 1
                if (was, row["status"]) == ("trialing", "active"):
                    counts["trials_converted", month, currency] += 1
            if row["status"] == "canceled" and had_paid and not row["is_after_cancel"]:
                counts["churned", month, currency] += 1
            had_paid, was = had_paid or row["is_paying"], row["status"]
    return counts


def _month(moment: datetime) -> datetime:
    day = moment.astimezone(timezone.utc)
    return day.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next(month: datetime) -> datetime:
    return _month(month + timedelta(days=32))
