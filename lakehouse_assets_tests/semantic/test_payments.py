"""semantic.payments: a charge once, as its provider last described it."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.payments import payments
from lakehouse_assets.staging.stg_payment_charges import StgPaymentCharges
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)


def event(id: str, charge: str, minute: int, **more: object) -> Row:
    """An event of a charge, changed some minutes after ten."""
    return {
        "event_id": id, "charge_id": charge, "provider": "STRIPE", "amount": Decimal(5),
        "created_at": AT, "updated_at": AT + minute * MINUTE, "arrived_at": AT, **more,
    }  # fmt: skip


def last_words(lake: Lake, *events: Row) -> list[tuple[object, ...]]:
    found = result(payments, events=rows(lake.spark, StgPaymentCharges, *events))
    return [(r["charge_id"], r["event_id"], r["status"]) for r in found]


def test_the_last_word_has_the_greatest_update_whatever_arrived_last(lake: Lake) -> None:
    late = {"arrived_at": AT + timedelta(days=3)}
    assert last_words(
        lake,
        event("e1", "c1", 0, status="pending"),
        event("e3", "c1", 9, status="succeeded"),
        event("e2", "c1", 5, status="failed", **late),
        event("e4", "c2", 0, status=None),
    ) == [("c1", "e3", "succeeded"), ("c2", "e4", None)]


def test_of_equal_updates_the_greater_content_has_the_last_word_in_any_order(lake: Lake) -> None:
    tied = [event("e1", "c1", 0, status="failed"), event("e2", "c1", 0, status="refunded")]
    twice = tied[0]
    assert (
        last_words(lake, *tied, twice)
        == last_words(lake, *reversed(tied))
        == [("c1", "e2", "refunded")]
    )
