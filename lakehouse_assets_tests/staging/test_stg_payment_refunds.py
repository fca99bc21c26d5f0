"""staging.stg_payment_refunds: an event once, its newest version, cleaned."""

from datetime import timedelta
from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_refunds import stg_payment_refunds
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "event_id": "e1", "refund_id": "r1", "charge_id": "c1", "provider": "STRIPE",
    "amount": Decimal(950), "status": "succeeded", "currency": "EUR", "reason": "duplicate",
    "created_at": AT, "updated_at": AT, "arrived_at": AT,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_refunds, CLEAN, *given)


def test_spelled_nothing_becomes_null_and_codes_one_case(lake: Lake) -> None:
    (row,) = staged(lake, {
        "provider": " adyen ", "currency": "eur", "status": "SentForRefund", "customer_id": "N/A",
        "failure_reason": "nil", "merchant_id": "",
        "metadata": {"refund_requested_by": "support", "original_order_id": "o1",
                     "support_ticket_id": "null"},
    })  # fmt: skip
    expected = {
        "provider": "ADYEN", "currency": "EUR", "provider_status": "sentforrefund",
        "customer_id": None, "failure_reason": None, "merchant_id": None,
        "refund_requested_by": "support",
        "original_order_id": "o1", "support_ticket_id": None, "is_dirty": True,
        "provider_amount": Decimal("950.00"),
    }  # fmt: skip
    assert {n: row[n] for n in expected} == expected


@pytest.mark.parametrize(
    ("spelled", "meant", "is_dirty"),
    [
        ("requested_by_customer", "requested_by_customer", False),
        (" Customer-Request ", "requested_by_customer", True),
        ("DUP", "duplicate", True),
        ("Item not received", "product_not_received", True),
        ("n/a", None, True),
        (None, None, False),
    ],
)
def test_the_many_spellings_of_a_reason_are_one_word(
    lake: Lake, spelled: str | None, meant: str | None, is_dirty: bool
) -> None:
    (row,) = staged(lake, {"reason": spelled})
    assert (row["reason"], row["is_dirty"]) == (meant, is_dirty)


def test_an_event_stands_once_in_its_newest_version_however_late(lake: Lake) -> None:
    late = {"arrived_at": AT + timedelta(days=3)}
    found = staged(
        lake,
        {"updated_at": AT + MINUTE, "status": "settled"},
        {"updated_at": AT + MINUTE, "status": "settled"} | late,
        {"status": "settling"} | late,
        {"event_id": "e2", "status": "failed"},
        {"event_id": "e2", "status": "succeeded"},
    )
    assert [(r["event_id"], r["provider_status"], r["arrived_at"]) for r in found] == [
        ("e1", "settled", AT), ("e2", "succeeded", AT),
    ]  # fmt: skip


def test_what_breaks_a_rule_is_refused_and_what_is_odd_is_not(lake: Lake) -> None:
    refused: list[Row] = [
        {"event_id": None}, {"refund_id": "null"}, {"charge_id": None}, {"provider": "paypal"},
        {"amount": Decimal("-0.01")}, {"amount": None}, {"currency": "euro"}, {"status": "NULL"},
        {"reason": "a gift"}, {"updated_at": FAR}, {"created_at": None}, {"_error": "malformed"},
    ]  # fmt: skip
    good: list[Row] = [
        {"amount": Decimal(0)}, {"currency": None}, {"reason": None}, {"metadata": None},
        {"charge_id": "not here yet"}, {"updated_at": AT + 5 * MINUTE},
    ]  # fmt: skip
    events.kept(lake, stg_payment_refunds, CLEAN, refused, good)
