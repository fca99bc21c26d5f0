"""semantic.order_lines: what was bought, line by line."""

import json
from decimal import Decimal

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.order_lines import order_lines
from lakehouse_assets.staging.stg_shopify_orders import StgShopifyOrders, stg_shopify_orders
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import DAY, order
from lakehouse_assets_tests.support import broken_across, rows, stored

MUG = {"id": 11, "product_id": 7, "sku": "SKU-1", "title": "Mug", "quantity": 2, "price": "12.50"}


def lines(*given: object) -> dict[str, object]:
    return {"_line_items": json.dumps(given)}


def made(lake: Lake, *given: Row) -> list[Row]:
    return result(order_lines, orders=rows(lake.spark, StgShopifyOrders, *given))


def test_each_line_is_a_row_with_what_it_says(lake: Lake) -> None:
    odd = {"title": " ", "quantity": None, "price": "free"}
    found = made(lake, order("1", **lines(MUG, odd)), order("2", **lines()), order("3"))
    columns = ("order_id", "line_id", "product_id", "sku", "title", "quantity", "price")
    assert [tuple(row[c] for c in columns) for row in found] == [
        ("1", "#1", None, None, None, None, None),
        ("1", "11", "7", "SKU-1", "Mug", 2, Decimal("12.50")),
    ]


def test_a_line_that_stands_twice_is_one(lake: Lake) -> None:
    assert len(made(lake, order("1", **lines(MUG, MUG | {"quantity": 9})))) == 1


def test_lines_that_are_not_the_subtotal_are_counted(lake: Lake) -> None:
    whole: Row = {"line_item_count": 1, "discount_amount": Decimal(2), **lines(MUG)}
    two = {"line_item_count": 2}
    add(
        lake, stg_shopify_orders,
        order("good", **whole, subtotal_amount=Decimal("23.01")),
        order("off", **whole, subtotal_amount=Decimal("23.02")),
        order("vague", **whole | two | lines(MUG, {}), subtotal_amount=Decimal(1)),
        order("twice", **whole | two | lines(MUG, MUG), subtotal_amount=Decimal(1)),
        order("free", **whole | {"discount_amount": None}, subtotal_amount=Decimal("25.00")),
        order("silent", **whole, subtotal_amount=None),
        stated=False,
    )
    advance(lake, order_lines)
    found = broken_across(lake, order_lines)
    assert [row["order_id"] for row in found["lines_are_the_subtotal"]] == ["off"]


def test_a_line_that_an_edit_took_out_is_gone_and_other_orders_stay(lake: Lake) -> None:
    add(lake, stg_shopify_orders, order("1", **lines(MUG)), order("2", **lines(MUG)), stated=False)
    advance(lake, order_lines)
    later = order("3", day=1, **lines(MUG), updated_at=order("3")["updated_at"] + 2 * DAY)
    add(lake, stg_shopify_orders, later, stated=False)
    (published,) = advance(lake, order_lines).published
    assert (published.stored, published.removed) == (1, 0)
    assert len(stored(order_lines.name)) == 3
