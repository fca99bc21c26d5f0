"""analytics.order_summary: a day's orders by currency and by what became of them."""

from decimal import Decimal

from lakehouse_assets.analytics.order_summary import OrderSummary, order_summary
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_shopify_orders import StgShopifyOrders
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.semantic.orders import AT, DAY, order
from lakehouse_assets_tests.support import broken_rules, rows


def made(lake: Lake, *given: Row) -> list[Row]:
    return result(order_summary, orders=rows(lake.spark, StgShopifyOrders, *given))


def test_amounts_add_up_and_currencies_and_statuses_stay_apart(lake: Lake) -> None:
    found = made(lake, order("1"), order("2", total=30), order("3", currency="EUR"),
                 order("4", financial_status=None), order("5", day=1))  # fmt: skip
    columns = ("order_date", "currency", "financial_status", "orders")
    assert [tuple(row[c] for c in columns) for row in found] == [
        (AT.date(), "EUR", "paid", 1), (AT.date(), "USD", None, 1), (AT.date(), "USD", "paid", 2),
        ((AT + DAY).date(), "USD", "paid", 1),
    ]  # fmt: skip
    both = next(row for row in found if row["orders"] == 2)
    money = ("gross_amount", "discount_amount", "net_amount", "tax_amount", "shipping_amount",
             "total_amount")  # fmt: skip
    assert [both[c] for c in money] == [Decimal(n) for n in (42, 4, 38, 2, 10, 50)]


def test_what_an_order_does_not_say_is_left_out(lake: Lake) -> None:
    vague = order("1", subtotal_amount=None, discount_amount=None, line_item_count=3)
    (row,) = made(lake, vague, order("2", discount_amount=None))
    assert (row["line_items"], row["gross_amount"], row["discount_amount"]) == (4, 14, 0)
    assert row["total_amount"] == 40


def test_taxes_that_prices_contain_are_no_part_of_what_the_goods_cost(lake: Lake) -> None:
    held = {"is_tax_included": True, "tax_amount": Decimal(3)}
    (row,) = made(lake, order("1", **held), order("2", **held | {"tax_amount": None}), order("3"))
    money = ("gross_amount", "discount_amount", "net_amount", "tax_amount")
    assert [row[c] for c in money] == [Decimal(n) for n in (11 + 2 + 14 + 2, 4, 11 + 14, 4)]


def test_sums_that_contradict_each_other_are_counted(lake: Lake) -> None:
    good = made(lake, order("1"))[0]
    bad = good | {"net_amount": good["net_amount"] + 1}
    assert broken_rules(lake, OrderSummary, good, bad) == ["", "net_is_gross_less_discounts"]
