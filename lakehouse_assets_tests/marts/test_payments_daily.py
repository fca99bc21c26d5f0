"""marts.payments_daily: a day's charges by provider, status and currency."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.payments_daily import payments_daily
from lakehouse_assets.semantic.payments import Payments
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows

MIDNIGHT = datetime(2024, 3, 2, tzinfo=timezone.utc)
FIRST, SECOND = date(2024, 3, 1), date(2024, 3, 2)


def charge(id: str, amount: str, **more: object) -> Row:
    """A clean, successful charge in euros, made on the second day."""
    return {
        "charge_id": id, "provider": "STRIPE", "status": "succeeded", "currency": "EUR",
        "amount": Decimal(amount), "is_dirty": False, "created_at": MIDNIGHT, **more,
    }  # fmt: skip


def daily(lake: Lake, *charges: Row) -> list[tuple[object, ...]]:
    found = result(payments_daily, payments=rows(lake.spark, Payments, *charges))
    return [tuple(r.values()) for r in found]


def test_a_days_charges_are_counted_and_summed_by_provider_status_and_currency(lake: Lake) -> None:
    assert daily(
        lake,
        charge("1", "10.00"),
        charge("2", "0.01", is_dirty=True),
        charge("3", "5.00", status="failed"),
        charge("4", "7.00", currency="USD"),
        charge("5", "1.00", provider="ADYEN", status="failed"),
        charge("late", "2.00", created_at=MIDNIGHT - timedelta(microseconds=1)),
    ) == [
        (FIRST, "STRIPE", "succeeded", "EUR", 1, Decimal("2.00"), Decimal("2.00"), 0.0, 0.0),
        (SECOND, "ADYEN", "failed", "EUR", 1, Decimal("1.00"), Decimal("1.00"), 1.0, 0.0),
        (SECOND, "STRIPE", "failed", "EUR", 1, Decimal("5.00"), Decimal("5.00"), 1 / 3, 0.0),
        (SECOND, "STRIPE", "succeeded", "EUR", 2, Decimal("10.01"), Decimal("5.01"), 1 / 3, 0.5),
        (SECOND, "STRIPE", "succeeded", "USD", 1, Decimal("7.00"), Decimal("7.00"), 0.0, 0.0),
    ]  # fmt: skip


def test_charges_without_status_or_currency_are_a_group_of_their_own(lake: Lake) -> None:
    nowhere = {"status": None, "currency": None}
    assert daily(lake, charge("1", "1.00", **nowhere), charge("2", "2.00", **nowhere)) == [
        (SECOND, "STRIPE", None, None, 2, Decimal("3.00"), Decimal("1.50"), 0.0, 0.0)
    ]
