"""What is known of each person, told without engine and Spark."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.webhooks.truth.customers import MERGES
from lakehouse_assets.sources.webhooks.truth.people import EMAIL_RECORDS
from lakehouse_assets_tests.sources.webhooks.truth.said import (
    NOON,
    charge,
    event,
    expected,
    hubspot,
    order,
    person,
    refund,
    stripe,
)

SHOP = "analytics.storefront_customer_metrics"
METRICS, PAGE = "analytics.customer_metrics", "marts.customer_360"
BUYER = stripe("customer.created", 1_777_896_000, email="anna@example.com", phone="+12125550123")


def test_a_persons_orders_and_payments_are_summed_in_their_commonest_currency() -> None:
    told = [
        person(), BUYER, order(id=17), order(id=18), order(id=19, currency="USD"),
        order(id=20, financial_status="voided"), order(id=21, customer={"id": 99}),
        order(id=22, cancelled_at="2026-05-04T12:00:00Z"),
        refund(), refund(id=2, order_id=19, transactions=[
            {"kind": "refund", "status": "success", "amount": "1.00", "currency": "USD"}
        ]),
        charge(), charge(id="ch_2", status="failed"), charge(id="ch_3", status="pending"),
        charge(id="ch_4", customer=None),
    ]  # fmt: skip
    (row,) = expected(told)[METRICS]
    assert (row["entity_id"], row["sources"]) == (("shopify", "5"), ["shopify", "stripe"])
    assert (row["currency"], row["orders"], row["other_currency_orders"]) == ("EUR", 3, 1)
    assert (row["gross_amount"], row["refunded_amount"]) == (Decimal("65.00"), Decimal("10.00"))
    assert (row["net_amount"], row["average_order_amount"]) == (Decimal("55.00"), Decimal("32.50"))
    assert (row["payments_succeeded"], row["payments_failed"]) == (1, 1)
    assert (row["days_since_last_order"], row["churn_band"]) == (None, None)


def test_orders_of_merged_accounts_are_of_the_one_that_was_kept() -> None:
    def merge(gone: int, kept: int) -> Event:
        said = {"admin_graphql_api_customer_kept_id": f"gid://shopify/Customer/{kept}",
                "admin_graphql_api_customer_deleted_id": f"gid://shopify/Customer/{gone}",
                "status": "completed"}  # fmt: skip
        return event("shopify.customers", "customers/merge", said)

    chain = [merge(n, n + 1) for n in range(10, 10 + MERGES)]
    told = [
        person(), person(id=6, email="b@example.com"), person(id=7), merge(7, 6), merge(6, 5),
        order(id=1), order(id=2, customer={"id": 7}), order(id=3, customer={"id": 6}),
        order(id=4, customer={"id": 8}), merge(8, 9), merge(9, 8),
        *chain, merge(10 + MERGES, 5),
        order(id=5, customer={"id": 10}), order(id=6, customer={"id": 11}),
    ]  # fmt: skip
    (row,) = expected(told)[METRICS]
    assert row["orders"] == 4, "1, 2, 3, and 6 over the most merges that are followed"


@pytest.mark.parametrize(
    ("days", "today", "band"),
    [
        ([1], 91, "low"), ([1], 92, "medium"), ([1], 181, "medium"), ([1], 182, "high"),
        ([1, 3, 5], 8, "low"), ([1, 3, 5], 9, "medium"), ([1, 3, 5], 12, "high"), ([], 90, None),
    ],
)  # fmt: skip
def test_the_churn_band_is_by_the_usual_time_between_orders(
    days: list[int], today: int, band: str | None
) -> None:
    first = NOON - timedelta(days=31)
    orders = [order(id=day, created_at=f"{first + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}")
              for day in days]  # fmt: skip
    day = first.date() + timedelta(days=today)
    (row,) = expected([person(), *orders], as_of=[{"as_of_on": day}])[METRICS]
    assert row["churn_band"] == band
    assert row["days_since_last_order"] == (today - days[-1] if days else None)


def payer(mailbox: str, on: int, **said: Any) -> dict[str, Any]:
    return {"charged_on": date(2026, 5, on), "email_normalized": mailbox, "charges": 2,
            "succeeded": 1, "failed": 1, "max_risk_score": 7,
            "last_charge_at": NOON + timedelta(days=on)} | said  # fmt: skip


def test_a_page_has_all_that_is_known_of_a_person() -> None:
    told = [
        person(first_name="Ann", phone="+1 212 555 0123"), BUYER,
        person(id=6, email="info@example.com", phone="+12125550123", first_name=None,
               last_name=None, updated_at="2026-05-09T12:00:00Z"),
        hubspot(1, propertyName="email", propertyValue="ANNA@example.com"),
        hubspot(2, propertyName="company", propertyValue="Firm"),
        hubspot(3, propertyName="lifecyclestage", propertyValue="opportunity"),
        order(),
    ]  # fmt: skip
    days = [payer("anna@example.com", 1), payer("anna@example.com", 2, max_risk_score=None),
            payer("info@example.com", 3), payer("x@example.com", 4)]  # fmt: skip
    (row,) = expected(told, payer_days=days)[PAGE]
    assert row["full_name"] == "A B"  # Stripe's record and Ann's are of the same second
    assert row["emails"] == ["anna@example.com", "info@example.com"]
    assert (row["phones"], row["companies"]) == (["+12125550123"], ["Firm"])
    ids = (row["shopify_ids"], row["stripe_ids"], row["hubspot_ids"])
    assert ids == (["5", "6"], ["cus_1"], ["9"])
    assert (row["lifecycle_stage"], row["orders"]) == ("opportunity", 1)
    assert (row["provider_charges"], row["provider_succeeded"]) == (4, 2)
    assert (row["max_risk_score"], row["last_charge_at"]) == (7, NOON + timedelta(days=2))
    assert row["last_activity_at"] == NOON + timedelta(days=5)


def test_of_a_mailbox_on_too_many_records_no_payments_are_theirs() -> None:
    days = [payer("anna@example.com", 1)]
    people = [person(id=n) for n in range(EMAIL_RECORDS + 1)]
    assert {row["provider_charges"] for row in expected(people[1:], payer_days=days)[PAGE]} == {2}
    assert {row["provider_charges"] for row in expected(people, payer_days=days)[PAGE]} == {0}


def test_who_ordered_is_a_customer_and_others_are_leads() -> None:
    gone = event("shopify.customers", "customers/delete", {"id": 8})
    told = [person(), order(), person(id=7, email="c@example.com"), person(id=8), gone]
    customer, lead = expected(told)[PAGE]
    assert (customer["lifecycle_stage"], lead["lifecycle_stage"]) == ("customer", "lead")
    assert (lead["provider_charges"], lead["max_risk_score"]) == (0, None)


def shopper(number: int, email: str, **said: Any) -> dict[str, Any]:
    return {"customer_id": number, "email": email, "phone": None, "first_name": "A",
            "last_name": "S", "country": "DE", "created_at": NOON, "updated_at": NOON,
            "is_deleted": False} | said  # fmt: skip


def bought(number: int, customer: int, on: int, **said: Any) -> dict[str, Any]:
    return {"order_id": number, "customer_id": customer, "status": "paid", "currency": "EUR",
            "total": Decimal("9.50"), "created_at": NOON + timedelta(days=on)} | said  # fmt: skip


def test_a_shopper_is_who_has_their_mailbox_and_their_orders_there_stand_beside() -> None:
    shop = {
        "shoppers": [shopper(1, "Anna+w@example.com"), shopper(2, "z@example.com"),
                     shopper(3, "anna@example.com", is_deleted=True)],
        "shop_customers": [{"customer_id": 1, "segment": "vip", "updated_at": NOON}],
        "shop_orders": [
            bought(1, 1, 2), bought(2, 1, 9, status="cancelled"), bought(3, 1, 3, currency="SEK"),
            bought(4, 1, 1, status="refunded"), bought(5, 3, 1),
        ],
    }  # fmt: skip
    truth = expected([person(), order()], **shop)
    anna, alone = truth[PAGE]
    assert (anna["entity_id"], alone["entity_id"]) == (("shopify", "5"), ("storefront", "2"))
    assert (anna["shopify_ids"], anna["storefront_ids"]) == (["5"], ["1"])
    assert (anna["storefront_currency"], anna["storefront_orders"]) == ("EUR", 3)
    assert (anna["storefront_net_amount"], anna["net_amount"]) == (
        Decimal("9.50"), Decimal("32.50")
    )  # fmt: skip
    assert anna["last_activity_at"] == anna["storefront_last_order_at"] == NOON + timedelta(days=3)
    assert (alone["storefront_orders"], alone["storefront_segment"]) == (0, None)
    assert (alone["full_name"], alone["lifecycle_stage"]) == ("A S", "lead")
    assert [(row["segment"], row["other_currency_orders"]) for row in truth[SHOP]] == [
        ("vip", 1), (None, 0)
    ]  # fmt: skip
    only = expected([], shoppers=shop["shoppers"], shop_orders=shop["shop_orders"])[PAGE]
    assert {row["lifecycle_stage"] for row in only} == {"customer", "lead"}
