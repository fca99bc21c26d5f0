"""What each mailbox paid on a day."""

from datetime import date, datetime, timedelta, timezone

import pytest

from lakehouse_assets.sources.payments.truth.payers import PAYERS, mailbox, tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import Row

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (" Anna+shop@Example.com", "anna@example.com"), ("a.b@x.example", "a.b@x.example"),
        ("+x@example.com", None), ("anna@example", None), ("a@b@example.com", None),
        ("a b@example.com", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_an_email_is_a_mailbox_or_nothing(said: str | None, meant: str | None) -> None:
    assert mailbox(said) == meant


def charge(email: str | None, status: str | None, hours: int = 0, risk: int | None = None) -> Row:
    made = NOON + timedelta(hours=hours)
    return {"user_email": email, "status": status, "created_at": made, "risk_score": risk}


def test_charges_are_counted_by_day_and_mailbox() -> None:
    charges = [
        charge("a@x.example", "succeeded", risk=3), charge("A+1@x.example", "failed", hours=1),
        charge("a@x.example", None), charge("a@x.example", "pending", hours=12), charge(None, None),
    ]  # fmt: skip
    today, tomorrow = tables({PAYMENTS: charges})[PAYERS]
    assert today == {
        "charged_on": date(2026, 5, 4), "email_normalized": "a@x.example", "charges": 3,
        "succeeded": 1, "failed": 1, "max_risk_score": 3,
        "last_charge_at": NOON + timedelta(hours=1),
    }  # fmt: skip
    assert (tomorrow["charges"], tomorrow["max_risk_score"]) == (1, None)
