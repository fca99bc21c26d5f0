"""marts.sales_dashboard_daily: the shop's day, as its owner looks at it."""

from decimal import Decimal

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.sales_dashboard_daily import sales_dashboard_daily
from lakehouse_assets.semantic.first_orders import first_orders
from lakehouse_assets.semantic.order_lines import order_lines
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import AT, DAY, charge, order, refund
from lakehouse_assets_tests.support import rows, stored

ORDERS, *_ = sales_dashboard_daily.parents.values()


def line(order_id: str, title: str | None, quantity: int) -> Row:
    return {"order_id": order_id, "line_id": f"{order_id}{title}", "title": title,
            "quantity": quantity, "currency": "USD", "created_at": AT}  # fmt: skip


def first(customer_id: str, day: int = 0) -> Row:
    return {"customer_id": customer_id, "order_id": "x", "created_at": AT + day * DAY}


def made(lake: Lake, *orders: Row, firsts: tuple[Row, ...] = (), refunds: tuple[Row, ...] = (),
         charges: tuple[Row, ...] = (), lines: tuple[Row, ...] = ()) -> list[Row]:  # fmt: skip
    parents, given = sales_dashboard_daily.parents, (orders, firsts, refunds, charges, lines)
    return result(sales_dashboard_daily, **{
        name: rows(lake.spark, table.contract, *these)
        for (name, table), these in zip(parents.items(), given, strict=True)
    })  # fmt: skip


def test_a_day_is_told_with_who_is_new_and_what_sold_best(lake: Lake) -> None:
    (row,) = made(
        lake, order("1"), order("2", total=31), order("3", customer_id="2"),
        order("4", customer_id=None), order("5", financial_status="voided", customer_id="3"),
        firsts=(first("1", -9), first("2"), first("3")), refunds=(refund("r", "0", 5),),
        charges=(charge("a"), charge("b", status="failed")),
        lines=(line("1", "Mug", 2), line("2", "Mug", 1), line("3", "Lamp", 3), line("4", "Rug", 9),
               line("5", "Void", 99), line("1", None, 50), line("1", "a", 1), line("1", "b", 1),
               line("1", "c", 1)),
    )  # fmt: skip
    best = row.pop("top_products")
    assert [(one["title"], one["quantity"]) for one in best] == [
        ("Rug", 9), ("Lamp", 3), ("Mug", 3), ("a", 1), ("b", 1),
    ]  # fmt: skip
    assert row == {
        "order_date": AT.date(), "currency": "USD", "orders": 4, "customers": 2,
        "new_customers": 1, "gross_amount": 91, "refunded_amount": 5, "net_amount": 86,
        "average_order_amount": Decimal("22.75"), "refunds": 1, "payment_success_rate": 0.5,
    }  # fmt: skip


def test_a_day_without_orders_stands_for_its_refunds_and_charges(lake: Lake) -> None:
    (row,) = made(lake, refunds=(refund("r", "1", 5),))
    assert (row["orders"], row["net_amount"], row["average_order_amount"]) == (0, -5, None)
    assert (row["top_products"], row["payment_success_rate"]) == ([], None)
    assert made(lake, refunds=(refund("r", "1", 0, currency=None),)) == []


def test_an_older_order_that_comes_late_makes_nobody_new_twice(lake: Lake) -> None:
    def new() -> dict[int, int]:
        for table in (first_orders, order_lines, sales_dashboard_daily):
            advance(lake, table)
        found = stored(sales_dashboard_daily.name)
        return {(r["order_date"] - AT.date()).days: r["new_customers"] for r in found}

    add(lake, ORDERS, order("2", 5), order("9", 7, customer_id="2"), stated=False)
    assert new() == {5: 1, 7: 1}
    add(lake, ORDERS, order("1", 1), stated=False)
    assert new() == {1: 1, 5: 0, 7: 1}
