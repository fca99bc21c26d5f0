"""What the truth says of a customer's hour, and of whom it watches."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.sources.payments.truth.features import FEATURES, WATCHLIST, tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import Row

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


def charge(id: str, minutes: int, **more: object) -> Row:
    """A failed charge of customer c: ten euros, by a card of its own, some minutes after noon."""
    return {
        "charge_id": id, "customer_id": "c", "created_at": NOON + timedelta(minutes=minutes),
        "currency": "EUR", "amount": Decimal(10), "risk_score": None, "status": "failed",
        "payment_method_id": id, "card_brand": None, "card_last4": None, "card_country": None,
        **more,
    }  # fmt: skip


CHARGES = [
    charge("c3", 61, payment_method_id=None, card_country="DE"),
    charge("c0", 0, risk_score=80),
    charge("c1", 1, risk_score=75, payment_method_id="c0", currency=None),
    charge("c2", 60, payment_method_id=None, card_brand="visa", card_last4="4242"),
    charge("n1", 60, customer_id=None),
    charge("old", -31 * 24 * 60, payment_method_id=None, card_brand="visa"),
]


def test_an_hour_is_told_charge_by_charge() -> None:
    told = ("charge_id", "transactions_1h", "total_amount_1h", "avg_risk_1h", "cards_1h",
            "countries_1h", "failures_1h", "since_last_charge_s")  # fmt: skip
    found = [tuple(row[c] for c in told) for row in tables({PAYMENTS: CHARGES})[FEATURES]]
    assert found == [
        ("c0", 1, Decimal("10.00"), 80.0, 1, 0, 0, None),
        ("c1", 2, None, 77.5, 1, 0, 1, 60),
        ("c2", 3, Decimal("20.00"), 77.5, 2, 0, 2, 3_540),
        ("c3", 3, Decimal("20.00"), 75.0, 2, 1, 2, 60),
        ("n1", 1, Decimal("10.00"), None, 1, 0, 0, None),
        ("old", 1, Decimal("10.00"), None, 0, 0, 0, None),
    ]


def test_a_customer_is_watched_on_the_days_on_which_a_limit_was_crossed() -> None:
    burst = [charge(f"b{n}", 120, customer_id="d") for n in range(4)]
    watched = tables({PAYMENTS: [*CHARGES, *burst]})[WATCHLIST]
    day = date(2026, 5, 4)
    assert [(row["flagged_on"], row["customer_id"], row["reasons"]) for row in watched] == [
        (day, "c", "avg_risk_1h >= 75"), (day, "d", "cards_1h >= 4"),
    ]  # fmt: skip
    assert [(row["charges"], row["flagged_charges"]) for row in watched] == [(4, 4), (4, 4)]
