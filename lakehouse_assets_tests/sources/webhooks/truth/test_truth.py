import json
from collections import Counter
from datetime import date, datetime, timezone
from decimal import Decimal
from random import Random
from time import perf_counter
from typing import Any

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.truth import (
    REFUSED,
    STAGING,
    Truth,
    contacts,
    expected,
    grouping,
    who_is_who,
)
from lakehouse_assets.sources.webhooks.truth.people import score

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
ORDER = {
    "id": 17, "order_number": 1001, "email": " Anna@Example.com", "total_price": "32.50",
    "subtotal_price": "25.00", "total_tax": "5.00", "total_discounts": "1.00", "currency": "eur",
    "total_shipping_price_set": {"shop_money": {"amount": "2.50", "currency_code": "EUR"}},
    "financial_status": "paid", "fulfillment_status": None, "customer": {"id": 5},
    "line_items": [{}, {}], "created_at": "2026-05-03T23:30:00-05:00",
    "shipping_address": {"city": "Köln", "province": "NRW", "country_code": "DE"},
    "billing_address": None, "updated_at": "2026-05-04T07:00:00-05:00",
}  # fmt: skip
PERSON = {
    "id": 5, "email": "anna@example.com", "phone": None, "first_name": "Anna", "last_name": "B",
    "currency": "EUR", "state": "enabled", "created_at": "2026-05-04T12:00:00Z",
    "updated_at": "2026-05-04T12:00:00Z", "default_address": {"country_code": "de", "city": ""},
}  # fmt: skip


def event(topic: str, kind: str, said: dict[str, Any]) -> Event:
    ours = {"_webhook_topic": kind, "_webhook_id": "w", "_received_at": "2026-05-04T12:00:00Z"}
    return Event(b"k", json.dumps(ours | said).encode(), topic, "clean")


def order(**said: Any) -> Event:
    return event("shopify.orders", "orders/updated", ORDER | said)


def person(kind: str = "customers/update", **said: Any) -> Event:
    return event("shopify.customers", kind, PERSON | said)


def hubspot(at: int, kind: str = "contact.propertyChange", **said: Any) -> Event:
    whole = {"objectId": 9, "occurredAt": 1_777_896_000_000 + at, "subscriptionType": kind}
    return event(f"hubspot.{'contacts' if 'contact' in kind else 'companies'}", kind, whole | said)


def stripe(kind: str, created: int, **said: Any) -> Event:
    thing = {"id": "cus_1", "created": 1_777_896_000, "email": "a@example.com", "name": "A B"}
    content = {"type": kind, "created": created, "data": {"object": thing | said}}
    family = "customers" if kind.startswith("customer") else "charges"
    return event(f"stripe.{family}", kind, content)


def test_an_order_has_the_columns_of_the_seed() -> None:
    assert expected([order()])["staging.stg_shopify_orders"] == [{
        "order_id": "17", "order_number": 1001, "customer_id": "5", "email": "anna@example.com",
        "total_amount": Decimal("32.50"), "subtotal_amount": Decimal("25.00"),
        "tax_amount": Decimal("5.00"), "discount_amount": Decimal("1.00"),
        "shipping_amount": Decimal("2.50"), "currency": "EUR", "line_item_count": 2,
        "financial_status": "paid", "fulfillment_status": None, "is_paid": True,
        "is_fulfilled": False, "shipping_city": "Köln", "shipping_state": "NRW",
        "shipping_country": "DE", "billing_city": None, "billing_state": None,
        "billing_country": None, "order_date": date(2026, 5, 4),
        "created_at": datetime(2026, 5, 4, 4, 30, tzinfo=timezone.utc), "updated_at": NOON,
    }]  # fmt: skip


def test_an_older_update_changes_nothing_however_late_it_comes() -> None:
    old = order(updated_at="2026-05-04T06:59:59-05:00", financial_status="pending")
    for delivered in ([old, order()], [order(), old], [order(), old, order()]):
        (row,) = expected(delivered)["staging.stg_shopify_orders"]
        assert row["financial_status"] == "paid"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"line_items": "none"}, "line_item_count_present"),
        ({"line_items": {}}, "line_item_count_present"),
        ({"total_price": "12,50"}, "total_amount_present"),
        ({"total_price": "-1.00"}, "total_amount_not_negative"),
        ({"currency": "EURO"}, "currency_known"),
        ({"updated_at": "yesterday"}, "updated_at_present"),
        ({"updated_at": "2026-13-01T00:00:00Z"}, "updated_at_present"),
        ({"id": None, "created_at": 7}, "order_id_present, created_at_present"),
    ],
)
def test_an_order_that_breaks_a_rule_is_set_aside_and_the_one_before_it_stands(
    said: dict[str, Any], reason: str
) -> None:
    truth = expected([order(), order(**{"updated_at": "2026-05-04T23:00:00Z"} | said)])
    assert [row["updated_at"] for row in truth["staging.stg_shopify_orders"]] == [NOON]
    assert [row["reason"] for row in truth[REFUSED]] == [reason]


def test_a_deletion_is_final_and_keeps_nothing() -> None:
    later = person(updated_at="2026-05-05T12:00:00Z")
    gone = event("shopify.customers", "customers/delete", {"id": 5})
    for delivered in ([gone, later], [later, gone]):
        (row,) = expected(delivered)["staging.stg_shopify_customers"]
        kept = {name: value for name, value in row.items() if value is not None}
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


@pytest.fixture(scope="module")
def told() -> tuple[list[Event], Truth, float]:
    made = list(requests(11, 12_000, FIRST_DAY, Dirt(late=0.03, redelivery=0.03, no_list=0.01)))
    truth = expected(records(made))
    real = who_is_who(made)
    return list(records(made)), truth, score(grouping(truth), real).f1


def test_the_order_of_deliveries_and_re_deliveries_change_nothing(
    told: tuple[list[Event], Truth, float],
) -> None:
    kafka, truth, _ = told
    mixed = [*kafka, *(e for e in kafka if e.kind == "clean")]
    Random(1).shuffle(mixed)
    again = expected(mixed)
    assert all(again[table] == truth[table] for table in STAGING.values())
    once = [e for e in kafka if e.kind != "redelivery"]
    assert all(expected(once)[table] == truth[table] for table in STAGING.values())


def test_the_dirt_shows_and_the_people_are_found(told: tuple[list[Event], Truth, float]) -> None:
    kafka, truth, f1 = told
    assert f1 >= 0.99
    reasons = Counter(row["reason"] for row in truth[REFUSED])
    assert reasons["line_item_count_present"] == pytest.approx(120, abs=6)
    assert {"total_amount_present", "currency_known", "updated_at_present",
            "occurred_at_present"} <= set(reasons)  # fmt: skip
    for table in STAGING.values():
        assert len(truth[table]) > 20, table
    assert any(row["merged_into_id"] for row in truth["staging.stg_shopify_customers"])
    assert any(row["company_id"] for row in truth["staging.stg_hubspot_contacts"])
    began = perf_counter()
    expected(kafka)
    print(f"\ntruth: {len(kafka) / (perf_counter() - began):,.0f} records/s; f1 {f1:.4f}")
