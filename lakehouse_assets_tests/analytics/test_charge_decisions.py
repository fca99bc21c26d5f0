"""analytics.charge_decisions: what was known of a charge and its hour when it was decided on."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.analytics.charge_decisions import charge_decisions
from lakehouse_assets.analytics.charge_deliveries import ChargeDeliveries
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, charges, truth
from lakehouse_assets.sources.payments.truth.training import DECISIONS, DELIVERIES
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows, same_rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)


def told(id: str, minute: int, arrived: int = 0, **more: object) -> Row:
    """A record of x's charge of five euros, made some minutes after ten and heard at once, or
    `arrived` minutes after ten.
    """
    at = AT + minute * MINUTE
    return {
        "event_id": f"e{id}", "charge_id": id, "customer_id": "x", "currency": "EUR",
        "amount": Decimal(5), "risk_score": 40, "card": "pm1", "country": "DE", "is_failed": False,
        "created_at": at, "updated_at": at, "arrived_at": AT + arrived * MINUTE if arrived else at,
        **more,
    }  # fmt: skip


def decided(lake: Lake, *records: Row) -> dict[str, Row]:
    found = result(charge_decisions, deliveries=rows(lake.spark, ChargeDeliveries, *records))
    return {row["charge_id"]: row for row in found}


def test_the_hour_before_a_charge_is_told_as_far_as_it_was_known(lake: Lake) -> None:
    found = decided(
        lake,
        told("hour_ago", 0, card="pm2", country="FR", is_failed=True),
        told("now", 60, risk_score=70, amount=Decimal("2.50")),
        told("too_old", -1),
        told("yen", 59, currency="JPY"),
        told("y's", 59, customer_id="y"),
        told("nobody's", 59, customer_id=None),
    )["now"]
    names = ("transactions_1h", "total_amount_1h", "avg_risk_1h", "cards_1h", "countries_1h",
             "failures_1h", "decided_at")  # fmt: skip
    expected = (3, Decimal("7.50"), 50.0, 2, 2, 1, AT + 60 * MINUTE)
    assert tuple(found[name] for name in names) == expected


def test_what_arrived_after_the_decision_leaks_into_nothing(lake: Lake) -> None:
    known = [told("before", 0), told("now", 10)]
    changed = {"amount": Decimal(99), "updated_at": AT + 5 * MINUTE}
    corrected = told("before", 0, 30, risk_score=9, **changed)
    leak = told("now", 10, 90, event_id="later", is_failed=True, customer_id="y", risk_score=99)
    late = told("late", 9, 11)  # made before the charge, heard of after it
    assert decided(lake, *known, corrected, leak, late)["now"] == decided(lake, *known)["now"]
    redelivered = told("before", 0, 9, **changed)
    assert decided(lake, *known, redelivered)["now"]["total_amount_1h"] == Decimal("104.00")


def test_a_charge_without_a_customer_stands_alone(lake: Lake) -> None:
    nobody = {"customer_id": None, "risk_score": None, "currency": None, "card": None}
    found = decided(lake, told("a", 0, **nobody), told("b", 0, **nobody))
    assert (found["a"]["transactions_1h"], found["a"]["cards_1h"]) == (1, 0)
    assert found["a"]["total_amount_1h"] is None and found["a"]["avg_risk_1h"] is None


def test_generated_charges_dirt_and_all_give_the_truth(lake: Lake) -> None:
    dirt = Dirt(duplicate=0.1, redelivery=0.1, late=0.1, tie_event=0.05, oversized=0)
    start = FIRST_DAY
    events = list(charges(5, 2_500, start, dirt, interval=timedelta(seconds=2)))
    expected = truth.expected(truth.delivered(events, start, timedelta(seconds=2)))
    deliveries = rows(lake.spark, ChargeDeliveries, *expected[DELIVERIES])
    found = result(charge_decisions, deliveries=deliveries)
    same_rows(found, expected[DECISIONS])
    assert any(row["transactions_1h"] > 3 for row in found)
