"""marts.subscription_revenue_monthly: what stands at a month's end, and what happened in it."""

from datetime import datetime, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.subscription_revenue_monthly import subscription_revenue_monthly
from lakehouse_assets.semantic.subscription_history import SubscriptionHistory, subscription_history
from lakehouse_assets.staging.stg_payment_subscriptions import StgPaymentSubscriptions
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows


def event(sub: str, at: str, status: str | None = "active", **more: object) -> Row:
    """An event of a subscription of 9 euros a month, changed at this time of 2024."""
    changed_at = datetime.fromisoformat(f"2024-{at}").replace(tzinfo=timezone.utc)
    return {
        "event_id": f"{sub}-{at}", "subscription_id": sub, "provider": "STRIPE", "status": status,
        "plan_interval": "month", "provider_plan_amount": Decimal(900), "plan_currency": "EUR",
        "updated_at": changed_at, **more,
    }  # fmt: skip


def monthly(lake: Lake, *events: Row) -> list[tuple[object, ...]]:
    """The mart over the history that these events make; months as numbers."""
    history = result(
        subscription_history, events=rows(lake.spark, StgPaymentSubscriptions, *events)
    )
    frame = rows(lake.spark, SubscriptionHistory, *history)
    found = result(subscription_revenue_monthly, subscriptions=frame)
    assert all(row["month_on"].day == 1 for row in found)
    return [(row["month_on"].month, *list(row.values())[1:]) for row in found]


def test_revenue_is_what_stands_at_the_months_end_and_months_without_news_stand_too(
    lake: Lake,
) -> None:
    assert monthly(
        lake,
        event("a", "01-31T23:59:59.999999"),
        event("a", "04-01T00:00:00", "canceled"),  # still stood at the end of March
        event("b", "02-10T00:00:00", provider_plan_amount=Decimal(2900)),
        event("b", "02-20T00:00:00", provider_plan_amount=Decimal(9900)),
        event("b", "04-02T00:00:00", "past_due", provider_plan_amount=Decimal(1001)),
    ) == [
        (1, "EUR", 900, Decimal("9.00"), 1, 0, 1, 0, 0),
        (2, "EUR", 10_800, Decimal("108.00"), 2, 0, 1, 0, 0),
        (3, "EUR", 10_800, Decimal("108.00"), 2, 0, 0, 0, 0),
        (4, "EUR", 1_001, Decimal("10.01"), 1, 0, 0, 0, 1),
    ]


def test_each_currency_begins_with_its_first_version_and_is_told_in_its_own_units(
    lake: Lake,
) -> None:
    assert monthly(
        lake,
        event("a", "01-05T00:00:00", plan_currency="JPY"),
        event("b", "02-05T00:00:00"),
        event("b", "02-06T00:00:00", plan_currency="JPY"),  # moves, and is not new again
    ) == [
        (1, "JPY", 900, Decimal("900.00"), 1, 0, 1, 0, 0),
        (2, "EUR", 0, Decimal("0.00"), 0, 0, 1, 0, 0),
        (2, "JPY", 1_800, Decimal("1800.00"), 2, 0, 0, 0, 0),
    ]


def test_trials_convert_once_and_bring_nothing_until_then(lake: Lake) -> None:
    assert monthly(
        lake,
        event("a", "01-05T00:00:00", "trialing"),
        event("a", "02-05T00:00:00"),
        event("a", "02-06T00:00:00", "trialing"),
        event("a", "02-07T00:00:00"),
        event("b", "01-05T00:00:00", "trialing"),
        event("b", "02-05T00:00:00", "canceled"),  # never paid: no churn
        event("c", "01-05T00:00:00", "trialing"),
        event("c", "02-05T00:00:00", "past_due"),  # pays, but was never active
    ) == [
        (1, "EUR", 0, Decimal("0.00"), 0, 0, 0, 0, 0),
        (2, "EUR", 1_800, Decimal("18.00"), 2, 0, 2, 1, 0),
    ]


def test_a_canceled_subscription_leaves_once_and_does_not_come_back(lake: Lake) -> None:
    assert monthly(
        lake,
        event("a", "01-05T00:00:00"),
        event("a", "01-09T00:00:00", "canceled"),
        event("a", "02-05T00:00:00"),
        event("a", "02-09T00:00:00", "canceled"),
    ) == [
        (1, "EUR", 0, Decimal("0.00"), 0, 0, 1, 0, 1),
        (2, "EUR", 0, Decimal("0.00"), 0, 0, 0, 0, 0),
    ]


def test_what_has_no_known_price_pays_and_is_counted_but_not_added(lake: Lake) -> None:
    assert monthly(
        lake,
        event("a", "01-05T00:00:00", plan_currency=None),
        event("b", "01-05T00:00:00", plan_interval=None),
        event("c", "01-05T00:00:00", None),  # nobody knows whether it pays
        event("d", "01-05T00:00:00"),
    ) == [
        (1, None, None, None, 1, 1, 1, 0, 0),
        (1, "EUR", 900, Decimal("9.00"), 2, 1, 2, 0, 0),
    ]


def test_without_subscriptions_there_are_no_months(lake: Lake) -> None:
    assert monthly(lake) == []
