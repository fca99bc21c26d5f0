"""Which cleaned rows staging refuses, topic by topic, and why."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from lakehouse_assets.sources.payments.providers import (
    CURRENCIES,
    INTERVALS,
    PROVIDERS,
    REFUND_REASONS,
)
from lakehouse_assets.sources.payments.record import (
    CHARGES,
    CUSTOMERS,
    DISPUTES,
    MERCHANTS,
    REFUNDS,
    SUBSCRIPTIONS,
)
from lakehouse_assets.sources.payments.truth.raw import Row

AHEAD = timedelta(minutes=5)  # how far an event's clock may run ahead of Kafka's

Holds = Callable[[Row], bool]


def present(*columns: str) -> dict[str, Holds]:
    def holds(column: str) -> Holds:
        return lambda row: row[column] is not None

    return {f"{column}_present": holds(column) for column in columns}


def absent_or(column: str, holds: Callable[[Any], bool]) -> Holds:
    """A missing value is judged by the rule that it be present, and by no other."""
    return lambda row: row[column] is None or holds(row[column])


def on_time(*columns: str) -> dict[str, Holds]:
    def holds(column: str) -> Holds:
        return lambda row: row[column] is None or row[column] <= row["arrived_at"] + AHEAD

    return {f"{column.removesuffix('_at')}_not_in_future": holds(column) for column in columns}


TIMES = {**present("created_at", "updated_at"), **on_time("created_at", "updated_at")}
KNOWN_PROVIDER = {
    **present("event_id", "provider"),
    "provider_known": absent_or("provider", PROVIDERS.__contains__),
}
KNOWN_CURRENCY = {"currency_known": absent_or("currency", CURRENCIES.__contains__)}
NOT_NEGATIVE = {
    "provider_amount_not_negative": absent_or("provider_amount", lambda amount: amount >= 0)
}
RULES: dict[str, dict[str, Holds]] = {  # in the order in which reasons are given
    CHARGES.topic: {
        **KNOWN_PROVIDER, **present("charge_id", "provider_amount"), **NOT_NEGATIVE,
        **KNOWN_CURRENCY, **TIMES,
    },
    REFUNDS.topic: {
        **KNOWN_PROVIDER, **present("refund_id", "charge_id", "provider_amount"), **NOT_NEGATIVE,
        **KNOWN_CURRENCY, **present("provider_status"), **TIMES,
        "reason_vocabulary": absent_or("reason", REFUND_REASONS.__contains__),
    },
    DISPUTES.topic: {
        **KNOWN_PROVIDER, **present("dispute_id", "charge_id", "provider_amount"), **NOT_NEGATIVE,
        **present("currency"), **KNOWN_CURRENCY, **present("provider_status"), **TIMES,
    },
    SUBSCRIPTIONS.topic: {
        **KNOWN_PROVIDER, **present("subscription_id", "provider_plan_amount"),
        "provider_plan_amount_not_negative": absent_or(
            "provider_plan_amount", lambda amount: amount >= 0
        ),
        "plan_currency_known": absent_or("plan_currency", CURRENCIES.__contains__),
        **TIMES, "interval_vocabulary": absent_or("plan_interval", INTERVALS.__contains__),
    },
    CUSTOMERS.topic: {**present("customer_id", "changed_at"), **on_time("changed_at")},
    MERCHANTS.topic: {**present("merchant_id", "changed_at"), **on_time("changed_at")},
}  # fmt: skip


def refused(topic: str, row: Row) -> str | None:
    """The rules that a cleaned row breaks."""
    return ", ".join(name for name, holds in RULES[topic].items() if not holds(row)) or None
