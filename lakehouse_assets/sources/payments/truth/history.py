"""What was so from when until when: customers, merchants and subscriptions, version by version."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.payments.truth.meaning import Tables, minor_units, units, whole
from lakehouse_assets.sources.payments.truth.raw import Row
from lakehouse_assets.sources.payments.truth.staging import orderable

CUSTOMERS, MERCHANTS = "semantic.customers", "semantic.merchants"
SUBSCRIPTIONS = "semantic.subscription_history"
KEYS: dict[str, tuple[str, ...]] = {
    CUSTOMERS: ("customer_id", "valid_from_at"),
    MERCHANTS: ("merchant_id", "valid_from_at"),
    SUBSCRIPTIONS: ("subscription_id", "valid_from_at"),
}
PAYMENTS_A_YEAR = {"day": 365, "week": 52, "month": 12, "year": 1}
WITHOUT = ("event_type", "updated_at", "provider_plan_amount")  # are told under other names


def tables(staged: Tables) -> Tables:
    lives = _lives(staged["staging.stg_payment_subscriptions"], "subscription_id", "updated_at")
    return {
        CUSTOMERS: _known(staged["staging.stg_payment_customers"], "customer_id"),
        MERCHANTS: _known(staged["staging.stg_payment_merchants"], "merchant_id"),
        SUBSCRIPTIONS: [row for life in lives for row in _subscription(life)],
    }


def _known(changes: Iterable[Row], key: str) -> list[Row]:
    return [
        {name: value for name, value in row.items() if name != "changed_at"}
        for life in _lives(changes, key, "changed_at")
        for row in life
    ]


def _lives(rows: Iterable[Row], key: str, at: str) -> list[list[Row]]:
    """The versions of each key in turn, each from its instant until the next one's."""
    told: dict[str, dict[Any, Row]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: (row[at], orderable(row.get("event_id")))):
        told[row[key]][row[at]] = row  # of one instant the greatest event id comes last
    lives = []
    for _, life in sorted(told.items(), key=lambda item: orderable(item[0])):
        ends = [*list(life)[1:], None]
        lives.append([
            row | {"valid_from_at": start, "valid_to_at": end, "is_current": end is None}
            for (start, row), end in zip(life.items(), ends, strict=True)
        ])  # fmt: skip
    return lives


def _subscription(life: list[Row]) -> Iterable[Row]:
    canceled = False
    for row in life:
        paying = row["status"] in ("active", "past_due") and not canceled
        priced = {"provider": row["provider"], "currency": row["plan_currency"]}
        minor = whole(minor_units(priced, row["provider_plan_amount"]))
        yield {name: value for name, value in row.items() if name not in WITHOUT} | {
            "is_after_cancel": canceled,
            "is_paying": paying,
            "plan_amount": units(priced, row["provider_plan_amount"]),
            "plan_amount_minor": minor,
            "monthly_amount_minor": _monthly(row, minor) if paying else _unpaid(row, canceled),
        }
        canceled = canceled or row["status"] == "canceled"


def _monthly(row: Row, minor: int | None) -> int | None:
    discount = row["discount_percent"] or 0
    times = PAYMENTS_A_YEAR.get(row["plan_interval"] or "")
    if minor is None or times is None or not 0 <= discount <= 100:
        return None
    a_year = Decimal(minor) * times * (100 - discount) / 100
    return whole(a_year / 12)


def _unpaid(row: Row, canceled: bool) -> int | None:
    return 0 if canceled or row["status"] in ("trialing", "canceled") else None
