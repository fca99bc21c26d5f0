"""staging.stg_payment_subscriptions: an event once, its newest version, cleaned."""

from datetime import timedelta
from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_subscriptions import stg_payment_subscriptions
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "event_id": "e1", "subscription_id": "s1", "provider": "STRIPE", "status": "trialing",
    "plan_id": "basic", "plan_interval": "month", "plan_amount": Decimal(900),
    "plan_currency": "EUR", "trial_start_at": AT, "trial_end_at": AT + timedelta(days=14),
    "discount_percent": 10, "promo_code": "SPRING", "created_at": AT, "updated_at": AT,
    "arrived_at": AT,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_subscriptions, CLEAN, *given)


def test_a_clean_subscription_is_as_it_was_sent(lake: Lake) -> None:
    (row,) = staged(lake, {})
    assert row["provider_plan_amount"] == Decimal("900.00")
    assert {n: row[n] for n in CLEAN if n in row} == {n: v for n, v in CLEAN.items() if n in row}
    assert row["is_dirty"] is False


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [("Monthly", "month"), ("1 month", "month"), ("mo", "month"), ("ANNUAL", "year"),
     ("wk", "week"), ("d", "day"), ("None", None)],
)  # fmt: skip
def test_the_many_spellings_of_an_interval_are_one_word(
    lake: Lake, spelled: str, meant: str | None
) -> None:
    (row,) = staged(lake, {"plan_interval": spelled})
    assert (row["plan_interval"], row["is_dirty"]) == (meant, True)


def test_every_event_of_a_subscription_stays_and_each_stands_once(lake: Lake) -> None:
    late = {"arrived_at": AT + timedelta(days=3)}
    found = staged(
        lake,
        {"event_id": "e2", "updated_at": AT + MINUTE, "status": "active"},
        {"event_id": "e1"} | late,
        {"event_id": "e1"},
        {"event_id": "e1", "status": "active", "updated_at": AT - MINUTE} | late,
    )
    assert [(r["event_id"], r["status"], r["arrived_at"]) for r in found] == [
        ("e1", "trialing", AT), ("e2", "active", AT),
    ]  # fmt: skip


def test_what_breaks_a_rule_is_refused_and_what_is_odd_is_not(lake: Lake) -> None:
    refused: list[Row] = [
        {"event_id": None}, {"subscription_id": ""}, {"provider": "nil"}, {"plan_amount": None},
        {"plan_amount": Decimal(-9)}, {"plan_currency": "XXX"}, {"plan_interval": "fortnight"},
        {"created_at": None}, {"updated_at": FAR}, {"_error": "malformed"},
    ]  # fmt: skip
    good: list[Row] = [
        {"trial_start_at": None}, {"promo_code": None}, {"plan_interval": None},
        {"plan_currency": None}, {"trial_end_at": FAR}, {"canceled_at": AT, "status": "canceled"},
    ]  # fmt: skip
    events.kept(lake, stg_payment_subscriptions, CLEAN, refused, good)
