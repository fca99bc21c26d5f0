"""analytics.payer_days: who paid on a day, by mailbox."""

from datetime import timedelta

from lakehouse_assets.analytics.payer_days import payer_days
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.payments import Payments
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.semantic.orders import AT, DAY
from lakehouse_assets_tests.support import rows


def paid(number: str, email: str | None, **more: object) -> Row:
    return {"charge_id": number, "user_email": email, "status": "succeeded", "risk_score": 10,
            "created_at": AT, **more}  # fmt: skip


def test_a_day_tells_what_a_mailbox_paid_under_any_spelling(lake: Lake) -> None:
    late = AT + timedelta(hours=5)
    given = [paid("1", "Ada+x@Y.org"), paid("2", "ada@y.org", status="failed", created_at=late),
             paid("3", "ada@y.org", status=None, risk_score=None), paid("4", "nobody"),
             paid("5", None), paid("6", "ada@y.org", created_at=AT + DAY)]  # fmt: skip
    first, second = result(payer_days, payments=rows(lake.spark, Payments, *given))
    assert first == {
        "charged_on": AT.date(), "email_normalized": "ada@y.org", "charges": 3, "succeeded": 1,
        "failed": 1, "max_risk_score": 10, "last_charge_at": late,
    }  # fmt: skip
    assert (second["charged_on"], second["charges"]) == ((AT + DAY).date(), 1)
