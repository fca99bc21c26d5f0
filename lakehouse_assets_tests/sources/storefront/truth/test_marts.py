"""What is made of the shop's rows: facts of lines, and what they come to."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from lakehouse_assets.sources.storefront.truth import Truth
from lakehouse_assets_tests.sources.storefront.truth.said import T0, at, change, seen, told

CENT = Decimal("0.01")
FACTS = "semantic.storefront_order_facts"


def product(id: int, lsn: int, price: str, was: str = "", **said: Any) -> tuple[str, bytes | None]:
    now = {"id": id, "name": f"P{id}", "category_id": 7, "price": Decimal(price)} | said
    before = now | {"price": Decimal(was)} if was else None
    return change("products", "u" if was else "c", lsn, now, before)


def order(id: int, lsn: int, *lines: tuple[int, int, str], **said: Any) -> list[Any]:
    """Lines: a product, how many, and what one cost. It is the lsn's minute."""
    told = [change("orders", "c", lsn, {"id": id, "customer_id": 1, "created_at": at(lsn)} | said)]
    for n, (product, quantity, price) in enumerate(lines):
        line = {"order_id": id, "line": n + 1, "product_id": product, "quantity": quantity}
        row = line | {"unit_price": Decimal(price)}
        told.append(change("order_items", "c", lsn, row, minute=lsn))
    return told


@pytest.fixture(scope="module")
def shop() -> Truth:
    return told(
        change("categories", "c", 1, {"id": 7, "name": "Tea"}),
        change("customers", "c", 1, {"id": 1}), change("customers", "c", 1, {"id": 2}),
        product(1, 2, "2.00"), product(2, 2, "5.00"), product(1, 20, "3.00", was="2.00"),
        *order(1, 10, (1, 3, "2.00"), (2, 1, "4.00"), (1, 1, "0.01"), discount=Decimal("1.00")),
        *order(2, 30, (1, 2, "3.00")),
        *order(3, 31, (2, 4, "5.00"), status="refunded", discount=Decimal("5.00")),
    )  # fmt: skip


def test_a_discount_is_spread_and_the_last_line_takes_what_rounding_leaves(shop: Truth) -> None:
    first = [row for row in shop[FACTS] if row["order_id"] == 1]
    assert seen(first, "line", "gross_amount", "discount_amount", "net_amount") == [
        (1, Decimal("6.00"), Decimal("0.60"), Decimal("5.40")),
        (2, Decimal("4.00"), Decimal("0.40"), Decimal("3.60")),
        (3, Decimal("0.01"), Decimal("0.00"), Decimal("0.01")),
    ]


def test_a_line_tells_what_the_product_was_when_it_was_ordered(shop: Truth) -> None:
    of_one = [row for row in shop[FACTS] if row["product_id"] == 1]
    assert seen(of_one, "order_id", "list_amount", "category", "customer_segment") == [
        (1, Decimal("2.00"), "Tea", "new"), (1, Decimal("2.00"), "Tea", "new"),
        (2, Decimal("3.00"), "Tea", "new"),
    ]  # fmt: skip


def test_what_nobody_knew_is_null_and_lines_without_an_order_are_no_facts() -> None:
    line = {"order_id": 9, "line": 1, "product_id": 1, "quantity": 1, "unit_price": Decimal(1)}
    truth = told(*order(1, 10, (1, 1, "1.00")), change("order_items", "c", 11, line))
    assert seen(truth[FACTS], "order_id", "sku", "category", "list_amount") == [
        (1, None, None, None)
    ]
    assert seen(truth["marts.storefront_sales_daily"], "category_id", "orders") == [(None, 1)]


def test_a_day_sums_orders_and_what_is_left_of_them(shop: Truth) -> None:
    (day,) = shop["marts.storefront_sales_daily"]
    assert day == {
        "ordered_on": date(2026, 5, 4), "category_id": 7, "currency": "EUR", "category": "Tea",
        "orders": 3, "cancelled_orders": 1, "items": 11, "gross_amount": Decimal("36.01"),
        "cancelled_amount": Decimal("20.00"), "discount_amount": Decimal("6.00"),
        "net_amount": Decimal("15.01"), "average_order_amount": Decimal("7.51"),  # of 7.505
    }  # fmt: skip


def test_a_customer_without_an_order_is_there_with_zeros(shop: Truth) -> None:
    one, none = shop["marts.storefront_customer_lifetime"]
    assert (one["orders"], one["cancelled_share"]) == (3, 1 / 3)
    assert one["net_amount"] == Decimal("15.01")
    assert (one["first_order_at"], one["last_order_at"]) == (at(10), at(31))
    assert none == {
        "customer_id": 2, "segment": "new", "country": "DE", "currency": None, "orders": 0,
        "cancelled_orders": 0, "cancelled_share": None, "items": 0, "gross_amount": Decimal("0.00"),
        "net_amount": Decimal("0.00"), "first_order_at": None, "last_order_at": None,
    }  # fmt: skip


def test_a_products_week_counts_sales_and_changes_of_its_price(shop: Truth) -> None:
    rows = shop["marts.storefront_product_performance"]
    columns = ("product_id", "week_on", "sold", "cancelled", "orders", "price_changes")
    assert sorted(seen(rows, *columns)) == [
        (1, date(2026, 5, 4), 6, 0, 2, 1), (2, date(2026, 5, 4), 1, 4, 2, 0),
    ]  # fmt: skip
    made = product(1, 1, "2.00", created_at=T0 - timedelta(days=20))
    (alone,) = told(made, product(1, 2, "9.00", was="2.00"))["marts.storefront_product_performance"]
    assert (alone["currency"], alone["product_name"], alone["price_changes"]) == (None, "P1", 1)
