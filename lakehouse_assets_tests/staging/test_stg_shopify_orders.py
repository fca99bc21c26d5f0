"""staging.stg_shopify_orders: an order once, as it last was, its money typed."""

from datetime import date, timedelta
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_shopify_customers import stg_shopify_customers
from lakehouse_assets.staging.stg_shopify_orders import StgShopifyOrders, stg_shopify_orders
from lakehouse_assets_tests.lake.tables import Row, add
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE
from lakehouse_assets_tests.support import broken_across, broken_rules

CLEAN: Row = {
    "id": "17", "order_number": 1001, "email": " Anna@Example.com", "total_price": "32.50",
    "subtotal_price": "25.00", "total_tax": "5.00", "total_discounts": "1.00", "currency": "eur",
    "total_shipping": '{"shop_money":{"amount":"2.50","currency_code":"EUR"}}',
    "financial_status": "Paid", "fulfillment_status": None, "customer": '{"id":5,"x":[]}',
    "line_items": '[{"a":1},{}]', "created_at": AT, "updated_at": AT + MINUTE,
    "shipping_address": '{"city":" Köln","province":"NRW","country_code":"de"}',
    "billing_address": None, "arrived_at": AT + 9 * MINUTE, "_webhook_topic": "orders/updated",
    "topic_generation": 0, "kafka_partition": 1, "kafka_offset": 2,
}  # fmt: skip
SEED = [
    "order_id", "order_number", "customer_id", "email", "total_amount", "subtotal_amount",
    "tax_amount", "discount_amount", "shipping_amount", "currency", "line_item_count",
    "financial_status", "fulfillment_status", "is_paid", "is_fulfilled", "shipping_city",
    "shipping_state", "shipping_country", "billing_city", "billing_state", "billing_country",
    "order_date", "created_at", "updated_at", "_raw_id", "_staged_at",
]  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_shopify_orders, CLEAN, *given)


def test_it_has_the_columns_of_the_seed_in_its_order() -> None:
    assert list(StgShopifyOrders.columns)[: len(SEED)] == SEED
    assert {c.type for n, c in StgShopifyOrders.columns.items() if n.endswith("_amount")} == {
        "decimal(18,2)"
    }


def test_an_order_is_cleaned_and_typed(lake: Lake) -> None:
    (row,) = staged(lake, {})
    assert {name: value for name, value in row.items() if value is not None} == {
        "order_id": "17", "order_number": 1001, "customer_id": "5", "email": "anna@example.com",
        "total_amount": Decimal("32.50"), "subtotal_amount": Decimal("25.00"),
        "tax_amount": Decimal("5.00"), "discount_amount": Decimal("1.00"),
        "shipping_amount": Decimal("2.50"), "currency": "EUR", "line_item_count": 2,
        "financial_status": "paid", "is_paid": True, "is_fulfilled": False,
        "shipping_city": "Köln", "shipping_state": "NRW", "shipping_country": "DE",
        "order_date": date(2024, 3, 1), "created_at": AT, "updated_at": AT + MINUTE,
        "arrived_at": AT + 9 * MINUTE,
    }  # fmt: skip


def test_a_stale_update_changes_nothing_whenever_it_comes(lake: Lake) -> None:
    stale = {"updated_at": AT, "financial_status": "pending", "arrived_at": AT + 99 * MINUTE}
    again = {"arrived_at": AT + 20 * MINUTE}
    (row,) = staged(lake, stale, {}, again)
    assert (row["financial_status"], row["arrived_at"]) == ("paid", AT + 9 * MINUTE)
    (row,) = staged(lake, {"financial_status": "authorized"}, {"financial_status": "paid"})
    assert row["financial_status"] == "paid", "of two of one moment the greater"


def test_what_is_odd_is_nothing_and_what_cannot_do_without_is_refused(lake: Lake) -> None:
    odd: Row = {
        "total_discounts": "free", "total_shipping": "none", "customer": "[5]", "email": " ",
        "shipping_address": '{"city":7,"country_code":"Germany"}',
    }  # fmt: skip
    (row,) = staged(lake, odd)
    empty = ("discount_amount", "shipping_amount", "customer_id", "email", "shipping_state")
    assert [row[name] for name in empty] == [None] * len(empty)
    assert (row["shipping_city"], row["shipping_country"]) == ("7", "DE")
    refused: list[Row] = [
        {"id": None}, {"total_price": "12,50"}, {"total_price": "-1.00"}, {"currency": "EURO"},
        {"line_items": "none"}, {"line_items": "{}"}, {"line_items": None}, {"created_at": None},
        {"updated_at": None}, {"updated_at": FAR}, {"_error": "wrong type"},
    ]  # fmt: skip
    later: list[Row] = [{"updated_at": AT + 2 * MINUTE} | one for one in refused]
    (row,) = staged(lake, {}, *later)
    assert row["updated_at"] == AT + MINUTE, "the version before it stands"


def test_a_total_that_does_not_add_up_is_counted_and_kept(lake: Lake) -> None:
    good = dict.fromkeys(("order_id", "currency"), "EUR") | {
        "total_amount": Decimal("32.50"), "subtotal_amount": Decimal("25.00"),
        "tax_amount": Decimal("5.00"), "shipping_amount": Decimal("2.50"), "line_item_count": 1,
        "is_paid": True, "is_fulfilled": True, "created_at": AT, "updated_at": AT, "arrived_at": AT,
    }  # fmt: skip
    given = [good, good | {"total_amount": Decimal("32.51")}, good | {"tax_amount": None},
             good | {"is_tax_included": True, "total_amount": Decimal("27.50")}]  # fmt: skip
    assert broken_rules(lake, StgShopifyOrders, *given) == [""] * 4
    rule = next(r for r in StgShopifyOrders.rules if r.name == "totals_add_up")
    assert not rule.refuses and rule.threshold == 0.02
    off = (good | {"total_amount": Decimal("32.52")}, good | {"is_tax_included": True})
    add(lake, stg_shopify_orders, *[one | {"order_id": str(n)} for n, one in enumerate(
        (*given, *off))], stated=False)  # fmt: skip
    bad = lake.table("staging.stg_shopify_orders").where(f"not ({rule.sql})")
    assert sorted(row["order_id"] for row in bad.collect()) == ["4", "5"]


def test_it_says_when_it_was_cancelled_and_whether_prices_contain_the_taxes(lake: Lake) -> None:
    for said in ({}, {"cancelled_at": AT + MINUTE, "is_tax_included": True}):
        (row,) = staged(lake, said)
        assert (row["cancelled_at"], row["is_tax_included"]) == (
            said.get("cancelled_at"), said.get("is_tax_included")
        )  # fmt: skip


def test_an_orders_customer_is_missed_after_an_hour(lake: Lake) -> None:
    add(lake, stg_shopify_customers, {"customer_id": "5", "is_deleted": True}, stated=False)
    late = AT + timedelta(minutes=61)
    add(
        lake, stg_shopify_orders,
        {"order_id": "1", "customer_id": "5", "arrived_at": AT},
        {"order_id": "2", "customer_id": "6", "arrived_at": AT},
        {"order_id": "3", "customer_id": None, "arrived_at": AT},
        {"order_id": "4", "customer_id": "7", "arrived_at": late},
        stated=False,
    )  # fmt: skip
    found = broken_across(lake, stg_shopify_orders)
    assert [row["order_id"] for row in found["an_orders_customer_exists"]] == ["2"]


def test_a_raw_row_is_found_by_its_id(lake: Lake) -> None:
    raw = events.rows(lake.spark, next(iter(stg_shopify_orders.parents.values())).contract, CLEAN)
    assert stg_shopify_orders.transform is not None
    (row,) = stg_shopify_orders.transform(orders=raw).select("_raw_id", "_staged_at").collect()
    assert row["_raw_id"] == "0-1-2" and row["_staged_at"] is not None
