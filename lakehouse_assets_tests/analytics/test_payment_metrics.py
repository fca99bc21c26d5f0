"""analytics.payment_metrics: a day's card charges, and what of them went back."""

from decimal import Decimal

from lakehouse_assets.analytics.payment_metrics import payment_metrics
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_stripe_charges import StgStripeCharges
from lakehouse_assets.staging.stg_stripe_disputes import StgStripeDisputes
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.semantic.orders import AT, DAY, charge
from lakehouse_assets_tests.support import rows


def made(lake: Lake, charges: list[Row], disputes: list[Row]) -> list[Row]:
    return result(
        payment_metrics,
        charges=rows(lake.spark, StgStripeCharges, *charges),
        disputes=rows(lake.spark, StgStripeDisputes, *disputes),
    )


def test_charges_are_counted_on_their_day_with_what_was_refunded_since(lake: Lake) -> None:
    given = [charge("1"), charge("2", status="failed", fee_amount=None),
             charge("3", refunded_amount=Decimal(5)), charge("4", day=1),
             charge("5", currency="JPY")]  # fmt: skip
    jpy, usd, later = made(lake, given, [])
    assert (jpy["currency"], later["paid_on"]) == ("JPY", (AT + DAY).date())
    assert usd == {
        "paid_on": AT.date(), "currency": "USD", "charges": 3, "succeeded": 2,
        "success_rate": 2 / 3, "amount": 40, "refunds": 1, "refunded_amount": 5, "disputes": 0,
        "disputed_amount": 0, "fee_amount": 2,
    }  # fmt: skip


def test_a_dispute_counts_on_the_day_it_was_opened_with_charges_or_without(lake: Lake) -> None:
    dispute = {"dispute_id": "d1", "charge_id": "1", "amount": Decimal(20), "currency": "USD",
               "created_at": AT + DAY}  # fmt: skip
    before, row = made(lake, [charge("1")], [dispute])
    assert (before["disputes"], before["success_rate"]) == (0, 1)
    assert (row["charges"], row["success_rate"], row["amount"]) == (0, None, 0)
    assert (row["disputes"], row["disputed_amount"]) == (1, 20)
