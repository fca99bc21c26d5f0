"""marts.storefront_sales_daily: what was ordered on a day, by category, and what is left of it."""

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.storefront_sales_daily import storefront_sales_daily as sales
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.support import rows

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def line(order: int, gross: int, status: str = "paid", **more: Any) -> dict[str, Any]:
    net = 0 if status == "cancelled" else gross - 1
    return {
        "order_id": order, "line": 1, "ordered_at": NOON, "status": status, "category_id": 7,
        "category": "Tea", "currency": "EUR", "quantity": 2, "gross_amount": Decimal(gross),
        "discount_amount": Decimal(1), "net_amount": Decimal(net),
    } | more  # fmt: skip


def test_a_day_tells_orders_and_what_is_left_by_category(lake: Lake) -> None:
    given = [line(1, 10), line(1, 5, line=2), line(2, 8, "cancelled"),
             line(3, 4, category_id=None, category=None), line(4, 6, currency="USD")]  # fmt: skip
    (facts,) = sales.parents.values()
    found = result(sales, facts=rows(lake.spark, facts.contract, *given))
    told = {(r["category"], r["currency"]): r for r in found}
    assert set(told) == {("Tea", "EUR"), (None, "EUR"), ("Tea", "USD")}
    tea = told["Tea", "EUR"]
    assert (tea["orders"], tea["cancelled_orders"], tea["items"]) == (2, 1, 6)
    assert [tea[f"{c}_amount"] for c in ("gross", "cancelled", "net", "average_order")] == [
        Decimal(x) for x in (23, 8, 13, 13)
    ]


def test_a_day_of_cancelled_orders_has_no_average(lake: Lake) -> None:
    (facts,) = sales.parents.values()
    (row,) = result(sales, facts=rows(lake.spark, facts.contract, line(1, 8, "cancelled")))
    assert row["average_order_amount"] is None and row["net_amount"] == 0
