"""What each vendor's bodies look like: fields, ids and routes."""

import json
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, Request, requests
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.vendors import TOPICS

SEED = ("id", "admin_graphql_api_id", "email", "order_number", "total_price", "subtotal_price",
        "total_tax", "currency", "financial_status", "fulfillment_status", "customer",
        "line_items", "shipping_address", "billing_address", "created_at", "updated_at",
        "total_discounts", "total_shipping_price_set", "cancelled_at",
        "taxes_included")  # fmt: skip
HAPPENS = {
    "orders/create", "orders/updated", "orders/paid", "orders/fulfilled", "orders/cancelled",
    "refunds/create", "customers/create", "customers/update", "customers/delete",
    "customers/merge", "products/update", "customer.created", "customer.updated",
    "customer.deleted", "charge.succeeded", "charge.failed", "charge.refunded",
    "charge.dispute.created", "payout.paid", "contact.creation", "contact.propertyChange",
    "contact.deletion", "contact.associationChange", "company.creation",
    "company.propertyChange", "company.deletion", "deal.creation",
}  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[Request]:
    return list(requests(5, 12_000, FIRST_DAY, Dirt.only()))


def said(made: list[Request], *topics: str) -> list[Any]:
    return [json.loads(r.body) for r in made if r.topic in topics]


def test_everything_that_can_happen_happens(made: list[Request]) -> None:
    assert {r.topic for r in made} == HAPPENS


def test_an_order_has_the_columns_of_the_seed_and_money_as_text(made: list[Request]) -> None:
    for order in said(made, "orders/create", "orders/paid"):
        assert set(SEED) <= set(order)
        assert isinstance(order["total_price"], str) and isinstance(order["id"], int)
        assert order["updated_at"].endswith("-05:00")


def test_an_order_is_paid_and_fulfilled_in_time(made: list[Request]) -> None:
    updates = defaultdict(list)
    for order in said(made, *(topic for topic in HAPPENS if topic.startswith("orders/"))):
        updates[order["id"]].append((order["updated_at"], order["financial_status"]))
    for versions in updates.values():
        assert versions == sorted(versions, key=lambda version: version[0])
        assert all(a == b for a, b in pairwise(versions) if a[0] == b[0])
    last = Counter(versions[-1][1] for versions in updates.values() if len(versions) > 3)
    assert {"paid", "refunded", "partially_refunded"} <= set(last)


def test_orders_add_up_whether_or_not_the_prices_contain_the_taxes(made: list[Request]) -> None:
    found = Counter[bool]()
    for order in said(made, "orders/create"):
        subtotal, tax, total = (
            Decimal(order[name]) for name in ("subtotal_price", "total_tax", "total_price")
        )
        shipping = Decimal(order["total_shipping_price_set"]["shop_money"]["amount"])
        assert subtotal + shipping + (0 if order["taxes_included"] else tax) == total
        goods = sum(Decimal(line["price"]) * line["quantity"] for line in order["line_items"])
        assert goods - Decimal(order["total_discounts"]) == subtotal
        found[order["taxes_included"]] += 1
    assert min(found[True], found[False]) > 100


def test_orders_are_cancelled_before_and_after_they_were_paid(made: list[Request]) -> None:
    cancelled = said(made, "orders/cancelled")
    assert all(order["cancelled_at"] for order in cancelled)
    assert {order["financial_status"] for order in cancelled} == {"voided", "paid"}
    refunded = said(made, "orders/updated")
    assert any(o["cancelled_at"] and o["financial_status"] == "refunded" for o in refunded)


def test_a_merged_account_had_orders_that_nobody_gives_to_the_other(made: list[Request]) -> None:
    gone = {m["admin_graphql_api_customer_deleted_id"].rpartition("/")[2]
            for m in said(made, "customers/merge")}  # fmt: skip
    buyers = {str(order["customer"]["id"]) for order in said(made, "orders/create")}
    assert gone & buyers


def test_a_merge_names_two_accounts_of_one_person(made: list[Request]) -> None:
    owners = {r.known.source_id: r.known.person_id for r in made if r.known}
    merges = said(made, "customers/merge")
    for merge in merges:
        kept = merge["admin_graphql_api_customer_kept_id"].rpartition("/")[2]
        gone = merge["admin_graphql_api_customer_deleted_id"].rpartition("/")[2]
        assert kept != gone and owners[kept] == owners[gone]
    assert merges


def test_stripe_tells_amounts_in_smallest_units_and_what_was_before(made: list[Request]) -> None:
    for event in said(made, "charge.succeeded", "charge.failed", "charge.refunded"):
        charge = event["data"]["object"]
        assert isinstance(charge["amount"], int) and charge["currency"].islower()
        assert charge["paid"] is (charge["status"] == "succeeded")
        assert ("previous_attributes" in event["data"]) is (event["type"] == "charge.refunded")
    assert {e["data"]["object"]["currency"] for e in said(made, "charge.succeeded")} > {"jpy"}


def test_hubspot_sends_arrays_and_a_creation_says_nothing_else(made: list[Request]) -> None:
    arrays = said(made, "contact.creation")
    assert sum(map(len, arrays)) > 5 * len(arrays)
    for events in arrays:
        assert "propertyName" not in events[0]
        assert {e["subscriptionType"] for e in events[1:]} <= {
            "contact.propertyChange", "contact.associationChange",
        }  # fmt: skip
        assert "email" in {e.get("propertyName") for e in events} or events[0]["objectId"]


def test_records_are_the_vendors_bytes_behind_ours_one_for_each_event(made: list[Request]) -> None:
    kafka = list(records(made))
    assert {event.topic for event in kafka} == set(TOPICS)
    assert len(kafka) == sum(len(r.ids) for r in made)
    first = next(r for r in made if r.topic == "orders/create")
    (event,) = records([first])
    assert event.value and event.value.endswith(first.body[1:]) and event.key
    assert event.key.decode() == first.about
    assert event.value.startswith(b'{"_webhook_topic":"orders/create","_webhook_id":"')
    ids = [json.loads(event.value or b"")["_webhook_id"] for event in kafka]
    assert sorted(ids) == sorted(name for r in made for name in r.ids)
