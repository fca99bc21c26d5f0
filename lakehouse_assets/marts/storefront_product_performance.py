"""marts.storefront_product_performance: one row per product of the shop, week and currency.

What sold in the week, and how often its price changed in it. A week without a sale and without a
change has no row; one with changes alone has no currency. Weeks begin on Monday, UTC. The first
price that is known of a product is no change.

The scope cannot prune: products sell in any week, so each batch reads all of the touched ones'
lines.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.storefront_order_facts import storefront_order_facts
from lakehouse_assets.semantic.storefront_product_history import storefront_product_history

SUM = "decimal(20,2)"


class StorefrontProductPerformance(Table):
    product_id = column("bigint", "The shop's number of the product.", key=True)
    week_on = column("date", "Monday of the week, UTC.", key=True)
    currency = column("string", "ISO 4217; NULL: nothing was ordered.", key=True, nullable=True)
    product_name = column("string", "As it was called last in the week.", nullable=True)
    sold = column("bigint", "Things ordered and neither cancelled nor refunded.", ge=0)
    cancelled = column("bigint", "Things ordered that were.", ge=0)
    cancelled_share = column("double", "These by all.", ge=0, le=1, nullable=True)
    orders = column("bigint", "Orders with the product.", ge=0)
    revenue_amount = column(SUM, "What the sold ones brought.", ge=0)
    price_changes = column("bigint", "How often its price changed.", ge=0)

    layout = Layout(scope=recompute_keys(by=("product_id",), was=True))
    rules = (Rule("a_monday", "dayofweek(week_on) = 2", "weeks begin on Monday"),)


def transform(facts: DataFrame, products: DataFrame) -> DataFrame:
    undone = "status in ('cancelled', 'refunded')"
    week = F.expr("cast(date_trunc('week', ordered_at) as date)").alias("week_on")
    sold = facts.groupBy("product_id", week, "currency").agg(
        F.max_by("product_name", F.struct("ordered_at", "order_id", "line")).alias("said"),
        F.expr(f"sum(if({undone}, 0, quantity)) as sold"),
        F.expr(f"sum(if({undone}, quantity, 0)) as cancelled"),
        F.count_distinct("order_id").alias("orders"),
        F.sum("net_amount").alias("revenue_amount"),
    )
    both = ["product_id", "week_on"]
    counts = [F.coalesce(c, F.lit(0)).cast("bigint").alias(c)
              for c in ("sold", "cancelled", "orders", "price_changes")]  # fmt: skip
    told = sold.join(_changes(products), both, how="full").select(
        *both, "currency", F.coalesce("said", "called").alias("product_name"), *counts,
        F.coalesce("revenue_amount", F.lit(0)).cast(SUM).alias("revenue_amount"),
    )  # fmt: skip
    share = F.try_divide(F.col("cancelled"), F.col("sold") + F.col("cancelled"))
    return told.withColumn("cancelled_share", share).select(*StorefrontProductPerformance.columns)


def _changes(products: DataFrame) -> DataFrame:
    """The weeks in which a product's price changed, and how often."""
    versions = Window.partitionBy("product_id").orderBy("valid_from_at")
    changed = products.where("not is_deleted").withColumn("was", F.lag("price").over(versions))
    week = F.expr("cast(date_trunc('week', valid_from_at) as date)").alias("week_on")
    return changed.where("price != was").groupBy("product_id", week).agg(
        F.count(F.lit(1)).alias("price_changes"),
        F.max_by("name", "valid_from_at").alias("called"),
    )


storefront_product_performance = table_asset(
    StorefrontProductPerformance,
    transform,
    facts=storefront_order_facts,
    products=storefront_product_history,
)
