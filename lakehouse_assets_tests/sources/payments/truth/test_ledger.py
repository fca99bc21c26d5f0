"""What the truth says of movements of money, and of what they leave a merchant."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.sources.payments.truth.ledger import (
    DISPUTES,
    LEDGER,
    REFUNDS,
    REVENUE,
    tables,
)
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import Row

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


def event(id: str, thing: str, status: str, **more: object) -> Row:
    """About a charge in yen by Adyen; `thing` is its kind and its id."""
    kind, _, name = thing.partition(":")
    return {
        "event_id": id, "charge_id": "c1", f"{kind}_id": name, "provider": "ADYEN",
        "merchant_id": "m1", "customer_id": None, "currency": "JPY",
        "provider_amount": Decimal(300), "provider_status": status, "status": status,
        "created_at": NOON, "updated_at": NOON, **more,
    }  # fmt: skip


GIVEN = {
    PAYMENTS: [event("e1", "charge:c1", "succeeded"), event("e2", "charge:c2", "failed")],
    REFUNDS: [
        event("e3", "refund:r1", "refunded", currency=None),
        event("e4", "refund:r1", "refundfailed", updated_at=NOON - timedelta(days=1)),
        event("e6", "refund:r2", "refundfailed"),
        event("e5", "refund:r2", "refunded"),
    ],
    DISPUTES: [
        event("e7", "dispute:d1", "won", merchant_id=None),
        event("e8", "dispute:d2", "requestforinformation"),
        event("e9", "dispute:d3", "unresponded", provider="ADYEN", currency="EUR"),
    ],
}


def test_the_last_words_that_moved_money_are_movements() -> None:
    found = [(r["movement_id"], r["amount"], r["amount_minor"]) for r in tables(GIVEN)[LEDGER]]
    assert found == [
        ("charge:c1", Decimal("300.00"), 300),
        ("dispute:d1", Decimal("-300.00"), -300),
        ("dispute:d3", Decimal("-3.00"), -300),
        ("refund:r1", None, -300),
        ("reversal:d1", Decimal("300.00"), 300),
    ]


def test_a_day_nets_by_merchant_and_currency() -> None:
    columns = ("created_on", "merchant_id", "currency", "gross_minor", "refunded_minor",
               "disputed_minor", "reversed_minor", "net_minor", "net")  # fmt: skip
    day = date(2026, 5, 4)
    assert [tuple(row[c] for c in columns) for row in tables(GIVEN)[REVENUE]] == [
        (day, None, "JPY", 0, 0, 300, 300, 0, Decimal("0.00")),
        (day, "m1", None, 0, 300, 0, 0, -300, None),
        (day, "m1", "EUR", 0, 0, 300, 0, -300, Decimal("-3.00")),
        (day, "m1", "JPY", 300, 0, 0, 0, 300, Decimal("300.00")),
    ]
