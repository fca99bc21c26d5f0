"""marts.storefront_product_performance: how a product did in a week."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.storefront_product_performance import (
    storefront_product_performance as mart,
)
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.support import rows

MONDAY = datetime(2026, 5, 4, tzinfo=timezone.utc)


def line(order: int, quantity: int, status: str = "paid", **more: Any) -> dict[str, Any]:
    net = 0 if status == "cancelled" else quantity * 2
    return {
        "order_id": order, "line": 1, "product_id": 1, "product_name": f"Tea {order}",
        "status": status, "quantity": quantity, "net_amount": Decimal(net), "currency": "EUR",
        "ordered_at": MONDAY + timedelta(hours=order),
    } | more  # fmt: skip


def price(day: int, amount: int, **more: Any) -> dict[str, Any]:
    since = {"valid_from_at": MONDAY + timedelta(days=day), "is_deleted": False}
    return {"product_id": 1, "name": "Tea", "price": Decimal(amount)} | since | more


def told(lake: Lake, facts: list[Any], products: list[Any]) -> dict[date, dict[str, Any]]:
    given = {"facts": facts, "products": products}
    frames = {n: rows(lake.spark, mart.parents[n].contract, *some) for n, some in given.items()}
    return {row["week_on"]: row for row in result(mart, **frames)}


def test_a_week_tells_what_sold_and_how_often_the_price_changed(lake: Lake) -> None:
    lines = [line(1, 2), line(2, 3, "cancelled"), line(3, 1), line(24 * 7, 5)]
    prices = [price(-30, 1), price(0, 2), price(1, 2), price(2, 3), price(15, 4)]
    weeks = told(lake, lines, prices)
    first, second, third = (weeks[MONDAY.date() + timedelta(days=7 * n)] for n in range(3))
    assert (first["sold"], first["cancelled"], first["orders"]) == (3, 3, 3)
    assert (first["cancelled_share"], first["revenue_amount"]) == (0.5, Decimal(6))
    assert (first["product_name"], first["price_changes"]) == ("Tea 3", 2)
    assert (second["sold"], second["price_changes"]) == (5, 0)
    assert (third["sold"], third["currency"], third["price_changes"]) == (0, None, 1)
    assert third["product_name"] == "Tea" and third["cancelled_share"] is None


def test_a_deletion_is_no_change_of_price(lake: Lake) -> None:
    gone = price(1, 1, is_deleted=True, price=None, name=None)
    assert told(lake, [], [price(0, 1), gone, price(2, 1)]) == {}
