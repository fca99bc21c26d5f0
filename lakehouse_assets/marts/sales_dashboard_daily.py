"""marts.sales_dashboard_daily: one row per day and currency of the shop, as its owner looks at it.

Orders, who made them, what they brought, what went back, whether the cards worked and what sold
best. Amounts of different currencies are never added. Cancelled orders are no orders. A customer is
new on the day of the first order of theirs that we know; refunds stand on the day on which they
were made, and `net_amount` is less those.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.first_orders import REAL, first_orders
from lakehouse_assets.semantic.order_lines import order_lines
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders
from lakehouse_assets.staging.stg_shopify_refunds import stg_shopify_refunds
from lakehouse_assets.staging.stg_stripe_charges import stg_stripe_charges

SUM, DAY, TOP = "decimal(20,2)", ["order_date", "currency"], 5


class SalesDashboardDaily(Table):
    order_date = column("date", "The day, UTC.", key=True)
    currency = column("string", "ISO 4217.", key=True)
    orders = column("bigint", "Orders made on the day.", ge=0)
    customers = column("bigint", "Customers who made them.", ge=0)
    new_customers = column("bigint", "Those for whom it was the first day.", ge=0)
    gross_amount = column(SUM, "What the orders came to, in `currency`.", ge=0)
    refunded_amount = column(SUM, "What was paid back on the day.", ge=0)
    net_amount = column(SUM, "Gross less what was paid back.")
    average_order_amount = column(SUM, "Gross by orders, half up.", ge=0, nullable=True)
    refunds = column("bigint", "Refunds made on the day.", ge=0)
    payment_success_rate = column(
        "double", "Share of the day's card charges that went through.", ge=0, le=1, nullable=True
    )
    top_products = column(
        "array<struct<title:string,quantity:bigint>>", "What sold best, at most five."
    )

    layout = Layout(scope=recompute_days(at="created_at", on="order_date", was=True))
    rules = (Rule("net_is_gross_less_refunds", "net_amount = gross_amount - refunded_amount"),)


def transform(
    orders: DataFrame, firsts: DataFrame, refunds: DataFrame, charges: DataFrame, lines: DataFrame
) -> DataFrame:
    told = _sold(orders, firsts)
    for part in (_given_back(refunds), _paid(charges), _best(orders, lines)):
        told = told.join(part, DAY, how="full")
    counts = [F.coalesce(c, F.lit(0)).alias(c)
              for c in ("orders", "customers", "new_customers", "refunds")]  # fmt: skip
    sums = [F.coalesce(c, F.lit(0)).cast(SUM).alias(c) for c in ("gross_amount", "refunded_amount")]
    net = F.expr("coalesce(gross_amount, 0) - coalesce(refunded_amount, 0)").cast(SUM)
    average = F.expr(f"cast(round(gross_amount / orders, 2) as {SUM})")
    none = F.expr("cast(array() as array<struct<title:string,quantity:bigint>>)")
    return told.select(
        *DAY, *counts, *sums,
        net.alias("net_amount"),
        average.alias("average_order_amount"),
        "payment_success_rate",
        F.coalesce("top_products", none).alias("top_products"),
    )  # fmt: skip


def _sold(orders: DataFrame, firsts: DataFrame) -> DataFrame:
    first = firsts.select("customer_id", F.to_date("created_at").alias("first_on"))
    known = orders.where(REAL).join(first, "customer_id", how="left")
    return known.groupBy(*DAY).agg(
        F.count(F.lit(1)).alias("orders"),
        F.count_distinct("customer_id").alias("customers"),
        F.expr("count(distinct if(first_on = order_date, customer_id, null)) as new_customers"),
        F.sum("total_amount").alias("gross_amount"),
    )


def _given_back(refunds: DataFrame) -> DataFrame:
    moved = refunds.where("currency is not null")
    return moved.groupBy(F.to_date("created_at").alias("order_date"), "currency").agg(
        F.count(F.lit(1)).alias("refunds"), F.sum("amount").alias("refunded_amount")
    )


def _paid(charges: DataFrame) -> DataFrame:
    return charges.groupBy(F.to_date("created_at").alias("order_date"), "currency").agg(
        F.expr("count_if(status = 'succeeded') / count(1)").alias("payment_success_rate")
    )


def _best(orders: DataFrame, lines: DataFrame) -> DataFrame:
    """The titles of which most were sold; ties by the title."""
    real = orders.where(REAL).select("order_id", "order_date")
    sold = lines.join(real, "order_id", how="inner").where("title is not null")
    each = sold.groupBy(*DAY, "title").agg(F.sum("quantity").alias("quantity"))
    place = F.row_number().over(Window.partitionBy(*DAY).orderBy(F.desc("quantity"), "title"))
    best = each.withColumn("place", place).where(f"place <= {TOP}")
    ranked = F.array_sort(F.collect_list(F.struct("place", "title", "quantity")))
    titles = F.transform(ranked, lambda one: F.struct(one["title"], one["quantity"]))
    return best.groupBy(*DAY).agg(titles.alias("top_products"))


sales_dashboard_daily = table_asset(
    SalesDashboardDaily,
    transform,
    orders=stg_shopify_orders,
    firsts=first_orders,
    refunds=stg_shopify_refunds,
    charges=stg_stripe_charges,
    lines=order_lines,
)
