"""semantic.storefront_order_facts: who bought what, as both were then."""

from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_order_facts import mentions
from lakehouse_assets.semantic.storefront_order_facts import storefront_order_facts as facts
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.semantic.shop import Row, at
from lakehouse_assets_tests.support import rows

TEN, THREE = Decimal("10.00"), Decimal("3.00")


def order(number: int = 1, minute: int = 5, **more: Any) -> Row:
    usual = {"status": "paid", "customer_id": 1, "currency": "EUR", "discount": Decimal(0)}
    return usual | {"order_id": number, "created_at": at(minute)} | more


def line(number: int = 1, line: int = 1, price: Decimal = TEN, **more: Any) -> Row:
    usual = {"product_id": 1, "quantity": 1, "unit_price": price}
    return usual | {"order_id": number, "line": line} | more


def version(since: int, until: int | None, **what: Any) -> Row:
    ends = at(until) if until is not None else None
    return {"valid_from_at": at(since), "valid_to_at": ends} | what


CUSTOMERS = [version(0, 5, customer_id=1, segment="new", country="DE"),
             version(5, None, customer_id=1, segment="vip", country="AT")]  # fmt: skip
PRODUCTS = [version(0, 9, product_id=1, sku="T-1", name="Tea", category_id=7, price=TEN),
            version(9, None, product_id=1, sku="T-1", name="Tee", category_id=8, price=THREE)]


def parents(lake: Lake, items: list[Row], orders: list[Row]) -> dict[str, DataFrame]:
    given = {
        "items": items, "orders": orders, "customers": CUSTOMERS, "products": PRODUCTS,
        "categories": [{"category_id": 7, "name": "Hot drinks"}],
    }  # fmt: skip
    return {n: rows(lake.spark, facts.parents[n].contract, *some) for n, some in given.items()}


def told(lake: Lake, items: list[Row], orders: list[Row]) -> list[Row]:
    return result(facts, **parents(lake, items, orders))


def test_customer_and_product_are_told_as_they_were_when_it_was_ordered(lake: Lake) -> None:
    early, later = told(lake, [line(1), line(2)], [order(1, 4), order(2, 9)])
    assert (early["customer_segment"], later["customer_segment"]) == ("new", "vip")
    assert (early["product_name"], early["category"], early["list_amount"]) == (
        "Tea", "Hot drinks", TEN,
    )  # fmt: skip
    assert (later["product_name"], later["category"], later["list_amount"]) == ("Tee", None, THREE)
    assert later["unit_amount"] == TEN, "what it cost in the order is the order's"


def test_a_line_without_its_order_waits_and_strangers_are_told_as_nothing(lake: Lake) -> None:
    (row,) = told(lake, [line(1, product_id=9), line(3)], [order(1, customer_id=None)])
    assert (row["product_name"], row["customer_segment"], row["category"]) == (None, None, None)


def test_the_discount_is_spread_so_that_the_lines_come_to_the_total(lake: Lake) -> None:
    lines = [line(1, n, THREE) for n in (1, 2, 3)]
    found = told(lake, lines, [order(1, discount=Decimal("1.00"))])
    assert [r["discount_amount"] for r in found] == [Decimal(x) for x in ("0.33", "0.34", "0.33")]
    assert sum(r["net_amount"] for r in found) == Decimal("8.00")


def test_a_share_just_below_half_a_cent_is_none(lake: Lake) -> None:
    lines = [line(1, 1, Decimal("0.10")), line(1, 2, Decimal("1999.91"))]
    found = told(lake, lines, [order(1, discount=Decimal("100.00"))])
    assert [r["discount_amount"] for r in found] == [Decimal(0), Decimal(100)]


def test_what_was_cancelled_brings_nothing(lake: Lake) -> None:
    found = told(lake, [line(1, quantity=2), line(2)],
                 [order(1, status="cancelled"), order(2, status="refunded")])  # fmt: skip
    assert [(r["gross_amount"], r["net_amount"]) for r in found] == [
        (Decimal("20.00"), Decimal(0)), (TEN, Decimal(0)),
    ]  # fmt: skip


def test_news_of_a_product_touch_the_orders_that_it_was_so_for(lake: Lake) -> None:
    there = parents(lake, [line(1), line(2)], [order(1, 4), order(2, 9)])
    news = there["products"].where("name = 'Tee'")
    assert [r[0] for r in mentions("products", news, there).collect()] == [2]
    named = there["categories"]
    assert [r[0] for r in mentions("categories", named, there).collect()] == [1]
    changed = there["customers"].where("segment = 'new'")
    assert [r[0] for r in mentions("customers", changed, there).collect()] == [1]
