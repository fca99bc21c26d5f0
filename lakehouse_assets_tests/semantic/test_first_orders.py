"""semantic.first_orders: a customer's first order, whenever it is told."""

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.first_orders import first_orders
from lakehouse_assets.staging.stg_shopify_orders import StgShopifyOrders, stg_shopify_orders
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import AT, order
from lakehouse_assets_tests.support import rows, stored


def found(made: list[Row]) -> dict[str, tuple[str, int]]:
    return {r["customer_id"]: (r["order_id"], (r["created_at"] - AT).days) for r in made}


def test_the_earliest_counts_then_the_least_id_and_nobodys_order_is_nobodys_first(
    lake: Lake,
) -> None:
    given = [order("9", 2), order("3", 1), order("2", 1), order("1", 0, customer_id=None),
             order("7", 5, customer_id="2"), order("8", 0, financial_status="voided"),
             order("6", 0, cancelled_at=AT)]  # fmt: skip
    made = result(first_orders, orders=rows(lake.spark, StgShopifyOrders, *given))
    assert found(made) == {"1": ("2", 1), "2": ("7", 5)}


def test_an_older_order_that_comes_late_takes_the_place(lake: Lake) -> None:
    add(lake, stg_shopify_orders, order("1", 3), order("2", 3, customer_id="2"), stated=False)
    advance(lake, first_orders)
    add(lake, stg_shopify_orders, order("3", 1), stated=False)
    (published,) = advance(lake, first_orders).published
    assert (published.stored, published.removed) == (1, 1)
    assert found(stored(first_orders.name)) == {"1": ("3", 1), "2": ("2", 3)}
