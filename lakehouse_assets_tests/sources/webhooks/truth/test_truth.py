"""What single records must become in staging, told without engine and Spark."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.webhooks.truth import QUARANTINE, contacts
from lakehouse_assets_tests.sources.webhooks.truth.said import (
    ARRIVED,
    NOON,
    event,
    expected,
    hubspot,
    order,
    person,
    seen,
    stripe,
)


def test_an_order_has_the_columns_of_the_seed() -> None:
    (row,) = expected([order()])["staging.stg_shopify_orders"]
    assert (row.pop("arrived_at"), row.pop("_line_items")) == (ARRIVED, "[{},{}]")
    assert row == {
        "order_id": "17", "order_number": 1001, "customer_id": "5", "email": "anna@example.com",
        "total_amount": Decimal("32.50"), "subtotal_amount": Decimal("25.00"),
        "tax_amount": Decimal("5.00"), "discount_amount": Decimal("1.00"),
        "shipping_amount": Decimal("2.50"), "currency": "EUR", "line_item_count": 2,
        "financial_status": "paid", "fulfillment_status": None, "is_paid": True,
        "is_fulfilled": False, "shipping_city": "Köln", "shipping_state": "NRW",
        "shipping_country": "DE", "billing_city": None, "billing_state": None,
        "billing_country": None, "order_date": date(2026, 5, 4),
        "created_at": datetime(2026, 5, 4, 4, 30, tzinfo=timezone.utc), "updated_at": NOON,
        "cancelled_at": None, "is_tax_included": None,
    }  # fmt: skip


def test_an_older_update_changes_nothing_however_late_it_comes() -> None:
    old = order(updated_at="2026-05-04T06:59:59-05:00", financial_status="pending")
    for given in ([old, order()], [order(), old], [order(), old, order()]):
        (row,) = expected(given)["staging.stg_shopify_orders"]
        assert row["financial_status"] == "paid"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"line_items": "none"}, "line_item_count_present"),
        ({"line_items": {}}, "line_item_count_present"),
        ({"total_price": "12,50"}, "total_amount_present"),
        ({"total_price": "-1.00"}, "total_amount_not_negative"),
        ({"currency": "EURO"}, "currency_known"),
        ({"updated_at": None}, "updated_at_present"),
        ({"updated_at": "yesterday"}, "wrong type"),
        ({"updated_at": "2026-13-01T00:00:00Z"}, "wrong type"),
        ({"updated_at": "2099-01-01T00:00:00Z"}, "updated_not_in_future"),
        ({"id": None, "created_at": None}, "order_id_present, created_at_present"),
        ({"total_price": None, "currency": "EURO"}, "total_amount_present, currency_known"),
    ],
)
def test_an_order_that_breaks_a_rule_is_set_aside_and_the_one_before_it_stands(
    said: dict[str, Any], reason: str
) -> None:
    truth = expected([order(), order(**{"updated_at": "2026-05-04T23:00:00Z"} | said)])
    assert [row["updated_at"] for row in truth["staging.stg_shopify_orders"]] == [NOON]
    stage = "parse" if reason == "wrong type" else "staging"
    assert truth[QUARANTINE] == [{
        "source_table": "raw.shopify_orders", "kafka_partition": 1, "kafka_offset": 1,
        "stage": stage, "reason": reason,
    }]  # fmt: skip
    assert [row["error"] is None for row in truth["raw.shopify_orders"]] == [
        True, stage == "staging",
    ]  # fmt: skip


def test_a_deletion_is_final_and_keeps_nothing() -> None:
    later = person(updated_at="2026-05-05T12:00:00Z")
    gone = event("shopify.customers", "customers/delete", {"id": 5})
    for given in ([gone, later], [later, gone]):
        (row,) = expected(given)["staging.stg_shopify_customers"]
        kept = {name: value for name, value in seen(row).items() if value is not None}
        assert kept == {"customer_id": "5", "is_deleted": True}
    stripes = [stripe("customer.deleted", 1_777_896_001), stripe("customer.updated", 1_777_896_002)]
    (row,) = expected(stripes)["staging.stg_stripe_customers"]
    assert row["is_deleted"] and row["email"] is None and row["created_at"] == NOON


def test_a_merge_says_into_whom_and_one_that_failed_says_nothing() -> None:
    gid = "gid://shopify/Customer/"
    said = {"admin_graphql_api_customer_kept_id": f"{gid}4", "status": "completed",
            "admin_graphql_api_customer_deleted_id": f"{gid}5"}  # fmt: skip
    merge = event("shopify.customers", "customers/merge", said)
    (row,) = expected([person(), merge])["staging.stg_shopify_customers"]
    assert row["is_deleted"] and row["merged_into_id"] == "4"
    failed = event("shopify.customers", "customers/merge", said | {"status": "failed"})
    (row,) = expected([person(), failed])["staging.stg_shopify_customers"]
    assert not row["is_deleted"] and (row["country"], row["city"]) == ("DE", None)


def test_a_charge_is_in_units_of_its_currency() -> None:
    charge = {"id": "ch_1", "amount": 1999, "currency": "eur", "status": "succeeded", "paid": True}
    back = charge | {"amount_refunded": 1999, "refunded": True, "application_fee_amount": 88}
    yen = charge | {"id": "ch_2", "currency": "jpy"}
    rows = expected([
        stripe("charge.refunded", 1_777_896_009, **back),
        stripe("charge.succeeded", 1_777_896_000, **charge),
        stripe("charge.succeeded", 1_777_896_000, **yen),
    ])["staging.stg_stripe_charges"]  # fmt: skip
    assert [row["amount"] for row in rows] == [Decimal("19.99"), Decimal("1999.00")]
    assert rows[0]["is_refunded"] and rows[0]["refunded_amount"] == Decimal("19.99")
    assert rows[0]["fee_amount"] == Decimal("0.88") and not rows[1]["is_refunded"]


def test_a_contact_is_folded_property_by_property() -> None:
    told = [
        hubspot(5, propertyName="email", propertyValue="new@example.com"),
        hubspot(0, "contact.creation"),
        hubspot(3, propertyName="email", propertyValue="old@example.com"),
        hubspot(1, propertyName="country", propertyValue="Germany"),
        hubspot(4, propertyName="phone", propertyValue=""),
        hubspot(2, propertyName="phone", propertyValue="030 123456"),
        hubspot(6, "contact.associationChange", objectId=None, fromObjectId=9, toObjectId=3,
                associationType="CONTACT_TO_COMPANY", associationRemoved=False,
                isPrimaryAssociation=True),
    ]  # fmt: skip
    for seed in range(4):
        Random(seed).shuffle(told)
        (row,) = expected(told)["staging.stg_hubspot_contacts"]
        kept = {name: row[name] for name in ("email", "phone", "country", "company_id")}
        assert kept == {"email": "new@example.com", "phone": None, "country": "DE",
                        "company_id": "3"}  # fmt: skip
        assert row["created_at"] == NOON < row["updated_at"]


def test_the_newest_of_deletion_and_restoration_decides() -> None:
    name = hubspot(1, propertyName="firstname", propertyValue="Anna")
    gone, back = hubspot(2, "contact.deletion"), hubspot(3, "contact.restore")
    (row,) = expected([gone, name])["staging.stg_hubspot_contacts"]
    assert row["is_deleted"] and row["first_name"] is None
    (row,) = expected([back, gone, name])["staging.stg_hubspot_contacts"]
    assert not row["is_deleted"] and row["first_name"] == "Anna"


def test_deleted_records_are_nobodys() -> None:
    gone = event("shopify.customers", "customers/delete", {"id": 5})
    assert contacts(expected([person(), stripe("customer.created", 1_777_896_000)])).keys() == {
        ("shopify", "5"), ("stripe", "cus_1"),
    }  # fmt: skip
    assert not contacts(expected([person(), gone]))


def test_a_refund_is_what_was_paid_back() -> None:
    moved = {"kind": "refund", "status": "success", "amount": "10.00", "currency": "EUR"}
    said = {"id": 1, "order_id": 17, "created_at": "2026-05-04T12:00:00Z"}

    def refund(*transactions: object, **more: Any) -> Event:
        whole = {"_vendor": "shopify"} | said | {"transactions": list(transactions)} | more
        return event("webhooks.other", "refunds/create", whole)

    truth = expected([
        refund(moved, moved | {"amount": "2.505"}, moved | {"status": "failure"}),
        refund(id=2), refund(id=3, transactions="none"), refund(moved | {"amount": "1,0"}, id=4),
    ])  # fmt: skip
    rows = [(r["refund_id"], r["amount"], r["currency"])
            for r in truth["staging.stg_shopify_refunds"]]  # fmt: skip
    assert rows == [("1", Decimal("12.51"), "EUR"), ("2", Decimal("0.00"), None)]
    assert [row["reason"] for row in truth[QUARANTINE]] == ["amount_present"] * 2


def test_a_dispute_is_as_its_newest_event_says() -> None:
    def dispute(kind: str, created: int, status: str) -> Event:
        thing = {"id": "dp_1", "charge": "ch_1", "amount": 1999, "currency": "eur",
                 "reason": "fraudulent", "status": status, "created": 1_777_896_000}  # fmt: skip
        whole = {"_vendor": "stripe", "created": created, "data": {"object": thing}}
        return event("webhooks.other", kind, whole)

    truth = expected([
        dispute("charge.dispute.closed", 1_777_896_060, "Lost"),
        dispute("charge.dispute.created", 1_777_896_000, "needs_response"),
        dispute("payout.paid", 1_777_896_000, "paid"),
    ])  # fmt: skip
    (row,) = truth["staging.stg_stripe_disputes"]
    assert (row["amount"], row["status"]) == (Decimal("19.99"), "lost")
    assert row["created_at"] == NOON and row["updated_at"] == NOON + timedelta(minutes=1)
    assert len(truth["raw.webhooks_other"]) == 3 and not truth[QUARANTINE]
