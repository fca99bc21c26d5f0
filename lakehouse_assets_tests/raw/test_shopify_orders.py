"""raw.shopify_orders: every record one row, what is nested as its text, what has no column kept."""

import json
from datetime import timedelta

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.shopify_orders import ShopifyOrders, shopify_orders
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.raw.webhooks import CAME, NOON, has_columns_for_all, read
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

ORDER = {"id": 17, "order_number": 1001, "total_price": "32.50", "currency": "EUR",
         "created_at": "2026-05-04T07:00:00-05:00"}  # fmt: skip
SEED = {
    "id": "string", "admin_graphql_api_id": "string", "email": "string", "order_number": "bigint",
    "total_price": "string", "subtotal_price": "string", "total_tax": "string",
    "currency": "string", "financial_status": "string", "fulfillment_status": "string",
    "customer": "string", "line_items": "string", "shipping_address": "string",
    "billing_address": "string", "created_at": "timestamp", "updated_at": "timestamp",
    "_webhook_topic": "string", "_loaded_at": "timestamp",
}  # fmt: skip
GOOD: Row = CAME | {"line_items": "[]", "currency": "EUR", "total_price": "32.50"}


def an_order() -> Row:
    made = requests(7, 400, FIRST_DAY, Dirt.only())
    order: Row = json.loads(next(r.body for r in made if r.topic == "orders/create"))
    return order


def test_it_has_the_columns_of_the_seed() -> None:
    found = {name: column.type for name, column in ShopifyOrders.columns.items()}
    assert {name: found[name] for name in SEED} == SEED


def test_what_is_nested_stays_text_as_it_was_written(lake: Lake) -> None:
    whole = ORDER | {
        "line_items": [{"sku": "a", "price": "1.10", "grams": 1.50}], "customer": {"id": 5},
        "total_shipping_price_set": {"shop_money": {"amount": "2.50"}},
    }  # fmt: skip
    (row,) = read(lake, shopify_orders, whole)
    assert json.loads(row["line_items"]) == whole["line_items"]
    assert json.loads(row["total_shipping"]) == whole["total_shipping_price_set"]
    assert (row["id"], row["order_number"], row["created_at"]) == ("17", 1001, NOON)
    assert (row["_error"], row["_payload"]) == (None, None)
    assert row["_loaded_at"] - NOON > timedelta(0)


def test_shopifys_order_is_known_whole_and_what_has_no_column_is_kept(lake: Lake) -> None:
    order = an_order()
    has_columns_for_all(lake, shopify_orders, order)
    (row,) = read(lake, shopify_orders, order)
    fields = ShopifyOrders.fields()
    assert set(order) - set(fields) - set(ShopifyOrders.also or ()) == set()
    assert json.loads(row["_payload"])["note"] is None and "tags" not in fields


def test_what_is_no_instant_or_no_number_is_an_error(lake: Lake) -> None:
    wrong: list[Row] = [{"updated_at": "yesterday"}, {"order_number": "1001"}, {"created_at": 7}]
    found = read(lake, shopify_orders, *[ORDER | one for one in wrong])
    assert [(row["_error"], row["id"]) for row in found] == [("wrong type", None)] * len(wrong)
    assert [row["_error"] for row in parsed(lake, shopify_orders, None, b"\xff")] == [
        "null value", "invalid utf-8",
    ]  # fmt: skip


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "came_through_the_door": GOOD | {"_webhook_id": None},
        "line_items_are_a_list": GOOD | {"line_items": "none"},
        "currency_known": GOOD | {"currency": "EURO"},
        "totals_well_formed": GOOD | {"total_price": "12,50"},
    }
    assert broken_rules(lake, ShopifyOrders, GOOD, *dirty.values()) == ["", *dirty]
