from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.marts.subscription_revenue_monthly import subscription_revenue_monthly
from lakehouse_assets.semantic.customers import customers
from lakehouse_assets.semantic.merchants import merchants
from lakehouse_assets.semantic.subscription_history import subscription_history
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments
from lakehouse_assets.sources.payments.truth import (
    Delivered,
    Truth,
    delivered,
    expected,
    history,
    revenue,
)
from lakehouse_assets.sources.payments.truth.raw import Row
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.support import rows, same_rows

TABLES = (customers, merchants, subscription_history, subscription_revenue_monthly)
KNOWN = ("payment_customers", "payment_merchants")
DIRT = Dirt(
    late=0.05, redelivery=0.1, out_of_order=0.03, tie_event=0.03, tie_state=0.05,
    after_cancel=0.03, deletion=0.3, oversized=0,
)  # fmt: skip
NEW_YEAR = datetime(2024, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
NOTHING: Truth = {f"staging.stg_{topic}": [] for topic in (*KNOWN, "payment_subscriptions")}


@pytest.fixture(scope="module")
def truth() -> Truth:
    """Some days of customers and merchants, and some months of subscriptions."""
    days = payments(21, 3_000, FIRST_DAY, DIRT, only=KNOWN)
    seldom = timedelta(minutes=5)
    months = payments(22, 4_000, FIRST_DAY, DIRT, seldom, ("payment_subscriptions",))
    known, subscribed = expected(at_once(days)), expected(at_once(months))
    return {name: known[name] + subscribed[name] for name in known}


def at_once(made: Iterator[Event]) -> list[Delivered]:
    """Each arrives when it is made."""
    events = list(made)
    instants = [datetime.fromtimestamp(e.made_ms / 1000, timezone.utc) for e in events]
    records = zip(delivered(events, FIRST_DAY), instants, strict=True)
    return [record._replace(arrived_at=at) for record, at in records]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_holds_what_the_truth_says_of_dirty_records(
    lake: Lake, truth: Truth, table: LakeTable
) -> None:
    assert len(truth[table.name]) > 10
    frames = {
        name: rows(lake.spark, parent.contract, *truth[parent.name])
        for name, parent in table.parents.items()
    }
    same_rows(result(table, **frames), truth[table.name])


def test_the_generated_records_show_what_can_happen(truth: Truth) -> None:
    subscriptions, monthly = truth[history.SUBSCRIPTIONS], truth[revenue.REVENUE]
    assert len(subscriptions) < len(truth["staging.stg_payment_subscriptions"])  # ties
    assert 0 < sum(row["is_after_cancel"] for row in subscriptions) < 0.2 * len(subscriptions)
    assert len({row["month_on"] for row in monthly}) > 2
    for what in ("mrr_minor", "new", "trials_converted", "churned"):
        assert sum(row[what] or 0 for row in monthly) > 0
    for name in (history.CUSTOMERS, history.MERCHANTS):
        deleted = [row["is_current"] for row in truth[name] if row["is_deleted"]]
        assert any(deleted)
    assert not all(row["is_current"] for row in truth[history.CUSTOMERS] if row["is_deleted"])


def subscribed(id: str, day: int, status: str, **more: object) -> Row:
    return {
        "event_id": id, "subscription_id": "s1", "provider": "BRAINTREE", "status": status,
        "provider_plan_amount": Decimal("12.50"), "plan_interval": "year", "plan_currency": "EUR",
        "discount_percent": 10, "updated_at": NEW_YEAR + day * DAY, **more,
    }  # fmt: skip


def test_a_subscriptions_events_follow_each_other_and_a_cancel_is_final() -> None:
    events = [subscribed("e4", 60, "active"), subscribed("e1", 0, "canceled"),
              subscribed("e2", 0, "active"), subscribed("e3", 40, "canceled")]  # fmt: skip
    told = history.tables(NOTHING | {"staging.stg_payment_subscriptions": events})
    columns = ("event_id", "valid_from_at", "valid_to_at", "is_paying", "monthly_amount_minor")
    assert [tuple(row[c] for c in columns) for row in told[history.SUBSCRIPTIONS]] == [
        ("e2", NEW_YEAR, NEW_YEAR + 40 * DAY, True, 94),
        ("e3", NEW_YEAR + 40 * DAY, NEW_YEAR + 60 * DAY, False, 0),
        ("e4", NEW_YEAR + 60 * DAY, None, False, 0),
    ]
    columns = ("month_on", "mrr", "subscriptions", "new", "churned")
    assert [tuple(row[c] for c in columns) for row in revenue.tables(told)[revenue.REVENUE]] == [
        (date(2024, 1, 1), Decimal("0.94"), 1, 1, 0),
        (date(2024, 2, 1), Decimal("0.00"), 0, 0, 1),
        (date(2024, 3, 1), Decimal("0.00"), 0, 0, 0),
    ]


def test_a_deletion_ends_a_version_and_leaves_no_gap() -> None:
    changes = [{"customer_id": "c", "changed_at": NEW_YEAR + DAY, "is_deleted": True},
               {"customer_id": "c", "changed_at": NEW_YEAR, "is_deleted": False}]  # fmt: skip
    told = history.tables(NOTHING | {"staging.stg_payment_customers": changes})
    assert told[history.CUSTOMERS] == [
        {"customer_id": "c", "is_deleted": False, "valid_from_at": NEW_YEAR,
         "valid_to_at": NEW_YEAR + DAY, "is_current": False},
        {"customer_id": "c", "is_deleted": True, "valid_from_at": NEW_YEAR + DAY,
         "valid_to_at": None, "is_current": True},
    ]  # fmt: skip
