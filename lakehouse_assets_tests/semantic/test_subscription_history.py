"""semantic.subscription_history: what a subscription was from when on, and what it brought."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.subscription_history import (
    SubscriptionHistory,
    subscription_history,
)
from lakehouse_assets.staging.stg_payment_subscriptions import StgPaymentSubscriptions
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import broken_rules, rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def event(id: str, day: int, status: str | None = "active", **more: object) -> Row:
    """An event of a subscription of 9 euros a month, changed on this day."""
    return {
        "event_id": id, "subscription_id": "s1", "provider": "STRIPE", "status": status,
        "plan_id": "basic", "plan_interval": "month", "provider_plan_amount": Decimal(900),
        "plan_currency": "EUR", "is_dirty": False, "created_at": AT, "updated_at": AT + day * DAY,
        "arrived_at": AT, **more,
    }  # fmt: skip


def history(lake: Lake, *events: Row) -> list[Row]:
    frame = rows(lake.spark, StgPaymentSubscriptions, *events)
    return result(subscription_history, events=frame)


def spans(lake: Lake, *events: Row) -> list[tuple[object, ...]]:
    ends = ("valid_from_at", "valid_to_at")
    return [
        (row["event_id"], *[row[end] and (row[end] - AT).days for end in ends], row["is_current"])
        for row in history(lake, *events)
    ]


def test_a_late_event_is_spliced_into_the_history(lake: Lake) -> None:
    events = [event("e1", 0, "trialing"), event("e2", 14), event("e9", 60, "canceled")]
    late = event("e3", 30, "past_due", arrived_at=AT + 90 * DAY)
    assert spans(lake, *events) == [
        ("e1", 0, 14, False), ("e2", 14, 60, False), ("e9", 60, None, True),
    ]  # fmt: skip
    assert spans(lake, late, *reversed(events)) == [
        ("e1", 0, 14, False), ("e2", 14, 30, False), ("e3", 30, 60, False), ("e9", 60, None, True),
    ]  # fmt: skip


def test_of_events_of_one_instant_the_greatest_id_stands_in_any_order(lake: Lake) -> None:
    tied = [event("e2", 0, "canceled"), event("e3", 0), event("e1", 0, "trialing")]
    other = event("e1", 0, subscription_id="s2")
    for given in (tied, tied[::-1]):
        assert spans(lake, *given, event("e0", 1), other) == [
            ("e3", 0, 1, False), ("e0", 1, None, True), ("e1", 0, None, True),
        ]  # fmt: skip


def test_an_event_for_a_canceled_subscription_stands_is_marked_and_brings_nothing(
    lake: Lake,
) -> None:
    found = history(
        lake, event("e4", 9), event("e1", 0), event("e2", 5, "canceled"), event("e3", 6, "canceled")
    )
    columns = ("status", "is_after_cancel", "is_paying", "monthly_amount_minor")
    assert [tuple(row[c] for c in columns) for row in found] == [
        ("active", False, True, 900),
        ("canceled", False, False, 0),
        ("canceled", True, False, 0),
        ("active", True, False, 0),
    ]


def test_what_a_version_brings_in_a_month_is_told_in_the_smallest_unit(lake: Lake) -> None:
    braintree: Row = {"provider": "BRAINTREE", "provider_plan_amount": Decimal("9.50")}
    said: list[tuple[Row, str | None, int | None, int | None]] = [  # event, price, what it brings
        ({}, "9.00", 900, 900),
        ({"status": "past_due"}, "9.00", 900, 900),
        ({"status": "trialing"}, "9.00", 900, 0),
        ({"status": "canceled", "plan_currency": None}, None, 900, 0),
        ({"status": None}, "9.00", 900, None),
        ({"status": "paused"}, "9.00", 900, None),
        ({"plan_interval": "year"}, "9.00", 900, 75),
        ({"plan_interval": "week"}, "9.00", 900, 3_900),
        ({"plan_interval": "day"}, "9.00", 900, 27_375),
        ({"plan_interval": None}, "9.00", 900, None),
        ({"plan_interval": "year", "provider_plan_amount": Decimal(906)}, "9.06", 906, 76),
        ({"plan_interval": "year", "provider_plan_amount": Decimal(905)}, "9.05", 905, 75),
        ({"provider_plan_amount": Decimal(25), "discount_percent": 50}, "0.25", 25, 13),
        ({"discount_percent": 100}, "9.00", 900, 0),
        ({"discount_percent": 101}, "9.00", 900, None),
        ({"discount_percent": -(2**31)}, "9.00", 900, None),
        ({"provider": "ADYEN", "plan_currency": "JPY"}, "900.00", 900, 900),
        ({"plan_currency": None}, None, 900, 900),
        (braintree, "9.50", 950, 950),
        (braintree | {"plan_currency": None}, "9.50", None, None),
        (braintree | {"provider_plan_amount": Decimal("99999999.99"), "plan_interval": "day"},
         "99999999.99", 9_999_999_999, 304_166_666_636),
    ]  # fmt: skip
    numbered = [event("e", 0, **{"subscription_id": f"s{n:02}"} | s[0]) for n, s in enumerate(said)]
    for (given, *expected), row in zip(said, history(lake, *numbered), strict=True):
        found = [row["plan_amount"], row["plan_amount_minor"], row["monthly_amount_minor"]]
        assert found == [expected[0] and Decimal(str(expected[0])), *expected[1:]], given


def test_what_nobody_can_tell_and_what_comes_after_a_cancel_is_counted_and_kept(
    lake: Lake,
) -> None:
    (good,) = history(lake, event("e1", 0))
    odd: dict[str, Row] = {
        "status_known": good | {"status": None},
        "not_after_cancel": good | {"is_after_cancel": True},
        "monthly_amount_known": good | {"monthly_amount_minor": None},
        "ends_after_it_begins": good | {"valid_to_at": AT - DAY, "is_current": False},
        "current_is_open": good | {"is_current": False},
    }
    found = broken_rules(lake, SubscriptionHistory, good, *odd.values())
    assert found == ["", *odd]
    assert len(history(lake, event("e1", 0, None), event("e2", 1, "paused"))) == 2
