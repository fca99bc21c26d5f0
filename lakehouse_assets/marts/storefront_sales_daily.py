"""marts.storefront_sales_daily: one row per day, category and currency of the shop.

What was ordered on the day and what is left of it. An order counts in each category of which it has
a line; cancelled and refunded ones count as orders and bring nothing. Lines of products whose
category nobody knows stand under NULL. Amounts of different currencies are never added.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.storefront_order_facts import storefront_order_facts

SUM = "decimal(20,2)"


class StorefrontSalesDaily(Table):
    ordered_on = column("date", "The day, UTC.", key=True)
    category_id = column("bigint", "The products' category then.", key=True, nullable=True)
    currency = column("string", "ISO 4217.", key=True)
    category = column("string", "Its name now.", nullable=True)
    orders = column("bigint", "Orders with a line of it.", ge=1)
    cancelled_orders = column("bigint", "Of these, how many were cancelled or refunded.", ge=0)
    items = column("bigint", "Things ordered.", ge=1)
    gross_amount = column(SUM, "What they cost.", ge=0)
    cancelled_amount = column(SUM, "Of this, what was cancelled or refunded.", ge=0)
    discount_amount = column(SUM, "Of this, what was taken off.", ge=0)
    net_amount = column(SUM, "What is left.", ge=0)
    average_order_amount = column(SUM, "Net by the orders that stand, half up.", nullable=True)

    layout = Layout(scope=recompute_days(at="ordered_at", on="ordered_on", was=True))
    rules = (
        Rule("cancelled_are_orders", "cancelled_orders <= orders", "they are some of those made"),
        Rule("net_within_gross", "net_amount <= gross_amount", "discounts take off"),
    )


def transform(facts: DataFrame) -> DataFrame:
    undone = "status in ('cancelled', 'refunded')"
    day = facts.groupBy(F.to_date("ordered_at").alias("ordered_on"), "category_id", "currency")
    told = day.agg(
        F.max("category").alias("category"),
        F.count_distinct("order_id").alias("orders"),
        F.expr(f"count(distinct if({undone}, order_id, null)) as cancelled_orders"),
        F.sum("quantity").alias("items"),
        *[F.sum(c).cast(SUM).alias(c) for c in ("gross_amount", "discount_amount", "net_amount")],
        F.expr(f"cast(sum(if({undone}, gross_amount, 0)) as {SUM}) as cancelled_amount"),
    )
    average = "try_divide(net_amount, orders - cancelled_orders)"
    return told.withColumn(
        "average_order_amount", F.expr(f"cast(round({average}, 2) as {SUM})")
    ).select(*StorefrontSalesDaily.columns)


storefront_sales_daily = table_asset(
    StorefrontSalesDaily, transform, facts=storefront_order_facts
)
