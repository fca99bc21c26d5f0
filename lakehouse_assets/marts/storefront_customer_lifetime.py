"""marts.storefront_customer_lifetime: one row per customer of the shop and currency they paid in.

What a customer has brought so far, and who they are now. One without orders is here with zeros and
without a currency; one who is no customer any more is not. Cancelled and refunded orders count as
orders and bring nothing. Amounts of different currencies are never added.

The scope cannot prune: a customer's orders lie on any day.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.storefront_customers import storefront_customers
from lakehouse_assets.semantic.storefront_order_facts import storefront_order_facts

SUM = "decimal(20,2)"


class StorefrontCustomerLifetime(Table):
    customer_id = column("bigint", "The shop's number of the customer.", key=True)
    currency = column("string", "ISO 4217; NULL: nothing ordered.", key=True, nullable=True)
    segment = column("string", "new, regular, loyal or vip, now.")
    country = column("string", "Where they live now.")
    orders = column("bigint", "Orders they made.", ge=0)
    cancelled_orders = column("bigint", "Of these, how many were cancelled or refunded.", ge=0)
    cancelled_share = column("double", "These by those.", ge=0, le=1, nullable=True)
    items = column("bigint", "Things they ordered.", ge=0)
    gross_amount = column(SUM, "What these cost.", ge=0)
    net_amount = column(SUM, "What they brought.", ge=0)
    first_order_at = column("timestamp", "When they first ordered, UTC.", nullable=True)
    last_order_at = column("timestamp", "When they last ordered, UTC.", nullable=True)

    layout = Layout(scope=recompute_keys(by=("customer_id",), was=True))
    rules = (Rule("first_before_last", "first_order_at <= last_order_at"),)


def transform(customers: DataFrame, facts: DataFrame) -> DataFrame:
    undone = "status in ('cancelled', 'refunded')"
    spent = facts.groupBy("customer_id", "currency").agg(
        F.count_distinct("order_id").alias("orders"),
        F.expr(f"count(distinct if({undone}, order_id, null)) as cancelled_orders"),
        F.sum("quantity").alias("items"),
        F.sum("gross_amount").alias("gross_amount"),
        F.sum("net_amount").alias("net_amount"),
        F.min("ordered_at").alias("first_order_at"),
        F.max("ordered_at").alias("last_order_at"),
    )
    who = customers.select("customer_id", "segment", "country")
    told = who.join(spent, "customer_id", how="left").fillna(
        0, ["orders", "cancelled_orders", "items"]
    )
    sums = {c: F.coalesce(c, F.lit(0)).cast(SUM) for c in ("gross_amount", "net_amount")}
    share = F.try_divide("cancelled_orders", "orders")
    return told.withColumns(sums | {"cancelled_share": share}).select(
        *StorefrontCustomerLifetime.columns
    )


storefront_customer_lifetime = table_asset(
    StorefrontCustomerLifetime,
    transform,
    customers=storefront_customers,
    facts=storefront_order_facts,
)
