"""analytics.order_summary: one row per day, currency and financial status of the shop's orders.

What was ordered on a day, by what has become of it since. Amounts of different currencies are never
added. `net_amount` is what the goods cost after discounts; tax and shipping come on top. Where a
shop's prices contain the taxes these are taken out, so that both are told alike.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders

SUM = "decimal(20,2)"
NET = "subtotal_amount - if(is_tax_included <=> true, tax_amount, 0)"


class OrderSummary(Table):
    order_date = column("date", "Day on which the orders were made, UTC.", key=True)
    currency = column("string", "ISO 4217.", key=True)
    financial_status = column("string", "paid, refunded, …", key=True, nullable=True)
    orders = column("bigint", "How many.", ge=1)
    line_items = column("bigint", "Their lines.", ge=0)
    gross_amount = column(SUM, "Goods before discounts, in `currency`.", nullable=True)
    discount_amount = column(SUM, "What was taken off goods whose price is known.", nullable=True)
    net_amount = column(SUM, "Goods after discounts.", nullable=True)
    tax_amount = column(SUM, "Taxes.", nullable=True)
    shipping_amount = column(SUM, "Shipping.", nullable=True)
    total_amount = column(SUM, "What the orders say is to be paid.", ge=0)

    layout = Layout(scope=recompute_days(at="created_at", on="order_date"))
    rules = (
        Rule("net_is_gross_less_discounts", "net_amount = gross_amount - discount_amount"),
    )


def transform(orders: DataFrame) -> DataFrame:
    money = {
        "gross_amount": f"{NET} + coalesce(discount_amount, 0)",
        "discount_amount": f"if({NET} is null, null, coalesce(discount_amount, 0))",
        "net_amount": NET,
        "tax_amount": "tax_amount",
        "shipping_amount": "shipping_amount",
        "total_amount": "total_amount",
    }
    sums = [F.expr(f"cast(sum({what}) as {SUM})").alias(name) for name, what in money.items()]
    grouped = orders.groupBy("order_date", "currency", "financial_status").agg(
        F.count(F.lit(1)).alias("orders"),
        F.expr("cast(sum(line_item_count) as bigint)").alias("line_items"),
        *sums,
    )
    return grouped.select(*OrderSummary.columns)


order_summary = table_asset(OrderSummary, transform, orders=stg_shopify_orders)
