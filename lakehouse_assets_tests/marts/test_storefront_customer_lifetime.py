"""marts.storefront_customer_lifetime: what a customer has brought so far."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.storefront_customer_lifetime import storefront_customer_lifetime as mart
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.support import rows

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def line(order: int, customer: int, net: int, status: str = "paid", **more: Any) -> dict[str, Any]:
    return {
        "order_id": order, "line": 1, "customer_id": customer, "currency": "EUR",
        "status": status, "quantity": 1, "gross_amount": Decimal(10), "net_amount": Decimal(net),
        "ordered_at": NOON + timedelta(days=order),
    } | more  # fmt: skip


def test_a_customers_orders_are_added_up_and_who_has_none_is_there(lake: Lake) -> None:
    who = [{"customer_id": n, "segment": "new", "country": "DE"} for n in (1, 2)]
    lines = [line(1, 1, 9), line(1, 1, 8, line=2), line(3, 1, 0, "refunded"), line(4, 9, 5)]
    given = {"customers": who, "facts": lines}
    buyer, other = result(
        mart, **{n: rows(lake.spark, mart.parents[n].contract, *some) for n, some in given.items()}
    )
    assert (buyer["orders"], buyer["cancelled_orders"], buyer["cancelled_share"]) == (2, 1, 0.5)
    assert (buyer["net_amount"], buyer["gross_amount"]) == (Decimal(17), Decimal(30))
    assert buyer["first_order_at"] == NOON + timedelta(days=1)
    assert buyer["last_order_at"] == NOON + timedelta(days=3)
    assert (other["orders"], other["currency"], other["cancelled_share"]) == (0, None, None)
    assert other["net_amount"] == 0
