from collections import defaultdict
from typing import Any

from lakehouse_assets.sources.payments import Dirt
from lakehouse_assets.sources.payments.providers import INTERVALS
from lakehouse_assets_tests.sources.payments.feeds import about, run

SUBSCRIPTIONS = "payment_subscriptions"


def lives(dirt: Dirt) -> list[list[dict[str, Any]]]:
    """Each subscription's events in the order of `updated_at`."""
    seen = defaultdict(list)
    for said in about(SUBSCRIPTIONS, run(30_000, dirt)):
        seen[said["subscription_id"]].append(said)
    return [sorted(said, key=lambda one: one["updated_at"]) for said in seen.values()]


def test_a_subscription_is_created_updated_and_at_last_canceled() -> None:
    found = lives(Dirt.none())
    for said in found:
        kinds = [one["event_type"].removeprefix("subscription.") for one in said]
        assert kinds[0] == "created"
        assert "canceled" not in kinds[:-1]
        assert all((one["canceled_at"] is None) == (one["status"] != "canceled") for one in said)
        assert {one["created_at"] for one in said} == {said[0]["created_at"]}
    ends = {said[-1]["status"] for said in found}
    assert ends >= {"active", "canceled", "trialing"}


def test_some_trials_convert_and_some_plans_change() -> None:
    found = lives(Dirt.none())
    converted = [s for s in found if [e["status"] for e in s][:2] == ["trialing", "active"]]
    assert converted
    assert any(len({one["plan_id"] for one in said}) > 1 for said in found)


def test_an_event_may_come_for_a_canceled_subscription() -> None:
    after = [
        said
        for said in lives(Dirt.only(after_cancel=0.1))
        if "canceled" in [one["status"] for one in said[:-1]]
    ]
    assert len(after) > 20


def test_trials_promo_codes_and_intervals_are_dirty() -> None:
    kinds = ("null_trial", "missing_promo", "interval_spelling")
    events = run(30_000, Dirt.only(**dict.fromkeys(kinds, 0.1)))
    trial, promo, interval = (about(SUBSCRIPTIONS, events, kind) for kind in kinds)
    assert min(len(trial), len(promo), len(interval)) > 100
    assert {(s["status"], s["trial_end_at"]) for s in trial} == {("trialing", None)}
    assert all(s["discount_percent"] for s in promo)
    assert {s["promo_code"] for s in promo} <= {None, "", "NULL", "null", "None", "n/a", "nil", " "}
    spelled = {s["plan_interval"] for s in interval}
    assert spelled <= {way for ways in INTERVALS.values() for way in ways}
    assert len(spelled) > len(INTERVALS)
