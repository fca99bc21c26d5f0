"""semantic.first_orders: one row per customer of the shop, with their first order.

By which a day's customers are new ones. An older order that comes late takes the place; one that
was cancelled, or went over to another customer, gives it up. Ties are broken by the order's id.
Nothing is counted.

The scope cannot prune: a customer's orders lie on any day, so each batch reads the customers of all
orders, which is one column.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders

# A cancelled order is none, here and in what follows; one that was paid is not voided by it.
REAL = "cancelled_at is null and not financial_status <=> 'voided'"


class FirstOrders(Table):
    customer_id = column("string", "Shopify's id of the customer.", key=True)
    order_id = column("string", "Their first order.")
    created_at = column("timestamp", "When they made it, UTC.")

    layout = Layout(scope=recompute_keys(by=("customer_id",), was=True))


def transform(orders: DataFrame) -> DataFrame:
    first = F.min(F.struct("created_at", "order_id")).alias("first")
    real = orders.where(REAL).where("customer_id is not null")
    known = real.groupBy("customer_id").agg(first)
    return known.select("customer_id", "first.order_id", "first.created_at")


first_orders = table_asset(FirstOrders, transform, orders=stg_shopify_orders)
