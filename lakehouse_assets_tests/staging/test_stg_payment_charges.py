"""staging.stg_payment_charges: an event once, its newest version, cleaned."""

from datetime import timedelta
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_charges import stg_payment_charges
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "event_id": "e1", "charge_id": "c1", "provider": "STRIPE", "amount": Decimal("9.50"),
    "billing_postal_code": "10115", "created_at": AT, "updated_at": AT, "arrived_at": AT,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_charges, CLEAN, *given)


def test_every_spelling_of_nothing_becomes_null_and_codes_one_case(lake: Lake) -> None:
    (row,) = staged(lake, {
        "provider": " stripe ", "currency": "eur", "status": "Succeeded", "risk_level": "HIGH",
        "failure_code": "null", "failure_message": " N/A ", "card_brand": "", "description": "nil",
        "card_country": "342", "billing_country": "DE", "risk_score": 101,
        "3ds_authenticated": "Yes", "billing_postal_code": None,
        "metadata": {"order_id": "o1", "user_email": "NULL", "subscription_id": None},
    })  # fmt: skip
    expected = {
        "event_id": "e1", "provider": "STRIPE", "currency": "EUR", "provider_status": "succeeded",
        "risk_level": "high", "failure_code": None, "failure_message": None, "card_brand": None,
        "description": None, "card_country": None, "billing_country": "DE", "risk_score": None,
        "is_3ds_authenticated": True, "billing_postal_code": None, "order_id": "o1",
        "user_email": None, "subscription_id": None, "is_dirty": True,
        "provider_amount": Decimal("9.50"),
    }  # fmt: skip
    assert {n: row[n] for n in expected} == expected


def test_a_country_with_a_line_end_behind_it_is_none(lake: Lake) -> None:
    (row,) = staged(lake, {"card_country": "US\n", "billing_country": "DE\r\n"})
    assert (row["card_country"], row["billing_country"], row["is_dirty"]) == (None, None, True)


def test_a_clean_charge_is_not_dirty(lake: Lake) -> None:
    (row,) = staged(lake, {"currency": "EUR", "card_country": "DE", "3ds_authenticated": "0"})
    assert (row["is_dirty"], row["is_3ds_authenticated"], row["risk_score"]) == (False, False, None)


def test_an_event_stands_once_in_its_newest_version(lake: Lake) -> None:
    found = staged(
        lake,
        {"updated_at": AT + 2 * MINUTE, "status": "failed"},
        {"updated_at": AT + 2 * MINUTE, "status": "failed", "arrived_at": AT + 9 * MINUTE},
        {"updated_at": AT, "status": "pending", "arrived_at": AT + 9 * MINUTE},
        {"event_id": "e2", "status": "failed"},
        {"event_id": "e2", "status": "succeeded"},
    )
    assert [(r["event_id"], r["provider_status"], r["arrived_at"]) for r in found] == [
        ("e1", "failed", AT), ("e2", "succeeded", AT),
    ]  # fmt: skip


def test_a_late_charge_is_as_good_as_any(lake: Lake) -> None:
    late = AT - timedelta(days=3)
    (row,) = staged(lake, {"created_at": late, "updated_at": late})
    assert (row["created_at"], row["arrived_at"]) == (late, AT)


def test_what_breaks_a_rule_is_refused_and_what_is_close_is_not(lake: Lake) -> None:
    refused: list[Row] = [
        {"event_id": None}, {"event_id": "null"}, {"charge_id": None}, {"provider": ""},
        {"provider": "PayPal"},
        {"amount": Decimal("-0.01")}, {"amount": None}, {"currency": "XXX"}, {"created_at": None},
        {"updated_at": None}, {"updated_at": AT + 6 * MINUTE}, {"created_at": FAR},
        {"_error": "malformed"},
    ]  # fmt: skip
    good: list[Row] = [
        {"updated_at": AT + 5 * MINUTE}, {"amount": Decimal(0)}, {"billing_postal_code": None},
    ]  # fmt: skip
    events.kept(lake, stg_payment_charges, CLEAN, refused, good)
