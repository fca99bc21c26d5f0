"""Which rows staging refuses, table by table, and why."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from lakehouse_assets.sources.webhooks.countries import CURRENCIES
from lakehouse_assets.sources.webhooks.truth import hubspot, shopify, stripe
from lakehouse_assets.sources.webhooks.truth.values import Row

AHEAD = timedelta(minutes=5)  # how far a vendor's clock may run ahead of Kafka's

Holds = Callable[[Row], bool]


def present(*columns: str) -> dict[str, Holds]:
    def holds(column: str) -> Holds:
        return lambda row: row[column] is not None

    return {f"{column}_present": holds(column) for column in columns}


def unless_deleted(*columns: str) -> dict[str, Holds]:
    def holds(column: str) -> Holds:
        return lambda row: row["is_deleted"] or row[column] is not None

    return {f"{column}_present": holds(column) for column in columns}


def absent_or(column: str, holds: Callable[[Any], bool]) -> Holds:
    """A missing value is judged by the rule that it be present, and by no other."""
    return lambda row: row[column] is None or holds(row[column])


def not_negative(column: str) -> dict[str, Holds]:
    return {f"{column}_not_negative": absent_or(column, lambda amount: amount >= 0)}


def on_time(*columns: str) -> dict[str, Holds]:
    def holds(column: str) -> Holds:
        return lambda row: row[column] is None or row[column] <= row["arrived_at"] + AHEAD

    return {f"{column.removesuffix('_at')}_not_in_future": holds(column) for column in columns}


KNOWN_CURRENCY = {"currency_known": absent_or("currency", CURRENCIES.__contains__)}
TIMES = {**present("created_at", "updated_at"), **on_time("created_at", "updated_at")}
RULES: dict[str, dict[str, Holds]] = {  # in the order in which reasons are given
    shopify.ORDERS: {
        **present("order_id", "total_amount"), **not_negative("total_amount"),
        **present("currency"), **KNOWN_CURRENCY, **present("line_item_count"), **TIMES,
    },
    shopify.CUSTOMERS: {
        **present("customer_id"), **unless_deleted("created_at", "updated_at"),
        **on_time("created_at", "updated_at"),
    },
    shopify.REFUNDS: {
        **present("refund_id", "order_id", "amount"), **not_negative("amount"), **KNOWN_CURRENCY,
        **present("created_at"), **on_time("created_at"),
    },
    stripe.CHARGES: {
        **present("charge_id", "amount"), **not_negative("amount"), **present("currency"),
        **KNOWN_CURRENCY, **present("status"), **TIMES,
    },
    stripe.CUSTOMERS: {**present("customer_id"), **TIMES},
    stripe.DISPUTES: {
        **present("dispute_id", "charge_id", "amount"), **not_negative("amount"),
        **present("currency"), **KNOWN_CURRENCY, **present("status"), **TIMES,
    },
    hubspot.CONTACT_FACTS: {**present("contact_id", "occurred_at"), **on_time("occurred_at")},
    hubspot.COMPANY_FACTS: {**present("company_id", "occurred_at"), **on_time("occurred_at")},
}  # fmt: skip


def refused(table: str, row: Row) -> str | None:
    """The rules that a row breaks."""
    return ", ".join(name for name, holds in RULES[table].items() if not holds(row)) or None
