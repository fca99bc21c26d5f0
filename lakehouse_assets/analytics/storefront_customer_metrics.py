"""analytics.storefront_customer_metrics: one row per entity that the shop knows, with what they
bought there.

The web shop beside Shopify's, which `customer_metrics` is about, by the same rules. Amounts are
those of the currency in which they ordered most, for amounts of different currencies are never
added; orders in others are counted. Cancelled orders are no orders, refunded ones bring nothing. Of
segments the one in the newest record stands. Orders of the two shops are not added here.

The scope cannot prune: a customer's orders lie on any day, so each batch reads the customers of all
of them.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets.semantic.storefront_customers import storefront_customers
from lakehouse_assets.semantic.storefront_orders import storefront_orders

SUM = "decimal(20,2)"
REAL = "status != 'cancelled'"
NEWEST = "max_by(segment, struct(updated_at, customer_id))"


class StorefrontCustomerMetrics(Table):
    entity_id = column("string", "The person.", key=True)
    segment = column("string", "new, regular, loyal or vip, now.", nullable=True)
    currency = column("string", "In which they ordered most; of the amounts.", nullable=True)
    orders = column("bigint", "Orders in any currency.", ge=0)
    other_currency_orders = column("bigint", "Those that no amount here is about.", ge=0)
    first_order_at = column("timestamp", "The first, UTC.", nullable=True)
    last_order_at = column("timestamp", "The last, UTC.", nullable=True)
    net_amount = column(SUM, "What the orders brought, in `currency`.", ge=0)

    layout = Layout(scope=recompute_keys(by=("entity_id",), was=True))


def transform(entities: DataFrame, orders: DataFrame, customers: DataFrame) -> DataFrame:
    people = entities.where("source = 'storefront'").groupBy("entity_id").agg(
        F.count(F.lit(1)).alias("records")
    )
    are = _of(entities, customers).groupBy("entity_id").agg(F.expr(NEWEST).alias("segment"))
    told = people.join(are, "entity_id", how="left")
    told = told.join(_bought(entities, orders), "entity_id", how="left")
    zero = [F.coalesce(c, F.lit(0)).alias(c) for c in ("orders", "other_currency_orders")]
    return told.select(
        "entity_id", "segment", "currency", *zero, "first_order_at", "last_order_at",
        F.coalesce("net_amount", F.lit(0)).cast(SUM).alias("net_amount"),
    )  # fmt: skip


def _bought(entities: DataFrame, orders: DataFrame) -> DataFrame:
    """Per entity: their orders, and what those of the commonest currency brought."""
    each = _of(entities, orders.where(REAL)).groupBy("entity_id", "currency").agg(
        F.count(F.lit(1)).alias("n"), F.min("created_at").alias("first"),
        F.max("created_at").alias("last"),
        F.sum(F.expr("if(status = 'refunded', 0, total)")).alias("net"),
    )  # fmt: skip
    main = F.max_by(F.struct("currency", "n", "net"), F.struct("n", "currency"))
    return each.groupBy("entity_id").agg(
        F.sum("n").alias("orders"), F.min("first").alias("first_order_at"),
        F.max("last").alias("last_order_at"), main.alias("main"),
    ).select(
        "entity_id", "orders", "first_order_at", "last_order_at", "main.currency",
        F.expr("orders - main.n").alias("other_currency_orders"),
        F.col("main.net").alias("net_amount"),
    )  # fmt: skip


def _of(entities: DataFrame, rows: DataFrame) -> DataFrame:
    """The shop's rows with the entity of their customer."""
    theirs = entities.where("source = 'storefront'").select("entity_id", "source_id")
    named = rows.withColumn("source_id", F.col("customer_id").cast("string"))
    return named.join(theirs, "source_id", how="inner")


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The entities whose records of the shop are in the news, or those of whose customers or orders
    they are.
    """
    if parent == "entities":
        return news.where("source = 'storefront'").select("entity_id")
    return _of(parents["entities"], news).select("entity_id")


storefront_customer_metrics = table_asset(
    StorefrontCustomerMetrics,
    transform,
    mentions=mentions,
    entities=entity_index,
    orders=storefront_orders,
    customers=storefront_customers,
)
