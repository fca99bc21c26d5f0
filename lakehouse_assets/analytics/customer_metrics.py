"""analytics.customer_metrics: one row per entity, with what they ordered and paid in the shop.

A person may have accounts in several systems, and orders in several of them; here it is one row.
Amounts are those of the currency in which they ordered most, for amounts of different currencies
are never added; orders in others are counted. Cancelled orders are no orders.

`churn_band` is a rule, not a model: the days since the last order beside the usual time between
orders (of one who ordered less than thrice: USUAL_DAYS). Up to one and a half times that is `low`,
up to three times `medium`, beyond it `high`; who never ordered has none.

The scope cannot prune: a customer's orders and charges lie on any day, so each batch reads the
customers of all of them.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.as_of import as_of
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets.semantic.first_orders import REAL
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders
from lakehouse_assets.staging.stg_shopify_refunds import stg_shopify_refunds
from lakehouse_assets.staging.stg_stripe_charges import stg_stripe_charges

USUAL_DAYS = 60  # between orders, where nobody can tell
BANDS = ("low", "medium", "high")
SUM = "decimal(20,2)"
CHURN = """case when days_since_last_order is null then null
    when days_since_last_order <= 1.5 * usual then 'low'
    when days_since_last_order <= 3 * usual then 'medium' else 'high' end"""
USUAL = f"if(orders < 3, {USUAL_DAYS}, datediff(last_order_at, first_order_at) / (orders - 1))"


class CustomerMetrics(Table):
    entity_id = column("string", "The person.", key=True)
    sources = column("array<string>", "The systems that know them, sorted.")
    currency = column("string", "In which they ordered most; of the amounts.", nullable=True)
    orders = column("bigint", "Orders in any currency.", ge=0)
    other_currency_orders = column("bigint", "Those that no amount here is about.", ge=0)
    first_order_at = column("timestamp", "The first, UTC.", nullable=True)
    last_order_at = column("timestamp", "The last, UTC.", nullable=True)
    gross_amount = column(SUM, "What the orders came to, in `currency`.", ge=0)
    refunded_amount = column(SUM, "What was paid back of them.", ge=0)
    net_amount = column(SUM, "What is left.")
    average_order_amount = column(SUM, "Gross by orders, half up.", ge=0, nullable=True)
    days_since_last_order = column("int", "By the day `as_of`.", nullable=True)
    payments_succeeded = column("bigint", "Card charges that went through.", ge=0)
    payments_failed = column("bigint", "Those that did not.", ge=0)
    churn_band = column("string", "low, medium or high.", isin=BANDS, nullable=True)

    layout = Layout(scope=recompute_keys(by=("entity_id",), was=True))
    rules = (Rule("net_is_what_is_left", "net_amount = gross_amount - refunded_amount"),)


def transform(
    entities: DataFrame, orders: DataFrame, refunds: DataFrame, charges: DataFrame, day: DataFrame
) -> DataFrame:
    people = entities.groupBy("entity_id").agg(
        F.array_sort(F.collect_set("source")).alias("sources")
    )
    told = people.join(_ordered(entities, orders, refunds), "entity_id", how="left")
    told = told.join(_paid(entities, charges), "entity_id", how="left")
    told = told.join(day, F.lit(True), how="left")
    since = F.datediff("as_of_on", F.to_date("last_order_at"))
    known = told.withColumn("days_since_last_order", since).withColumn("usual", F.expr(USUAL))
    zero = [F.coalesce(c, F.lit(0)).alias(c) for c in (
        "orders", "other_currency_orders", "payments_succeeded", "payments_failed"
    )]  # fmt: skip
    sums = [F.coalesce(c, F.lit(0)).cast(SUM).alias(c) for c in ("gross_amount", "refunded_amount")]
    left = F.expr("coalesce(gross_amount, 0) - coalesce(refunded_amount, 0)").cast(SUM)
    return known.select(
        "entity_id", "sources", "currency", *zero, "first_order_at", "last_order_at", *sums,
        left.alias("net_amount"),
        F.expr(f"cast(round(gross_amount / own_orders, 2) as {SUM})").alias("average_order_amount"),
        "days_since_last_order",
        F.expr(CHURN).alias("churn_band"),
    )  # fmt: skip


def _ordered(entities: DataFrame, orders: DataFrame, refunds: DataFrame) -> DataFrame:
    """Per entity: their orders, and what those of the commonest currency came to."""
    back = refunds.groupBy("order_id", "currency").agg(F.sum("amount").alias("back"))
    real = _of(entities, orders.where(REAL), "shopify")
    each = real.join(back, ["order_id", "currency"], how="left").groupBy(
        "entity_id", "currency"
    ).agg(
        F.count(F.lit(1)).alias("n"), F.min("created_at").alias("first"),
        F.max("created_at").alias("last"), F.sum("total_amount").alias("gross"),
        F.sum("back").alias("back"),
    )  # fmt: skip
    main = F.max_by(F.struct("currency", "n", "gross", "back"), F.struct("n", "currency"))
    return each.groupBy("entity_id").agg(
        F.sum("n").alias("orders"), F.min("first").alias("first_order_at"),
        F.max("last").alias("last_order_at"), main.alias("main"),
    ).select(
        "entity_id", "orders", "first_order_at", "last_order_at", "main.currency",
        F.col("main.n").alias("own_orders"),
        F.expr("orders - main.n").alias("other_currency_orders"),
        F.col("main.gross").alias("gross_amount"), F.col("main.back").alias("refunded_amount"),
    )  # fmt: skip


def _paid(entities: DataFrame, charges: DataFrame) -> DataFrame:
    return _of(entities, charges, "stripe").groupBy("entity_id").agg(
        F.expr("count_if(status = 'succeeded')").alias("payments_succeeded"),
        F.expr("count_if(status = 'failed')").alias("payments_failed"),
    )


def _of(entities: DataFrame, rows: DataFrame, source: str) -> DataFrame:
    """Rows with the entity of their customer in this system."""
    theirs = entities.where(f"source = '{source}'").select(
        "entity_id", F.col("source_id").alias("customer_id")
    )
    return rows.join(theirs, "customer_id", how="inner")


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The entities in the news, or those of whose orders and charges they are."""
    entities = parents["entities"]
    if parent == "entities":
        return news.select("entity_id")
    if parent == "day":
        return entities.select("entity_id")
    if parent == "refunds":
        news = parents["orders"].join(news.select("order_id"), "order_id", how="left_semi")
    return _of(entities, news, "stripe" if parent == "charges" else "shopify").select("entity_id")


customer_metrics = table_asset(
    CustomerMetrics,
    transform,
    mentions=mentions,
    entities=entity_index,
    orders=stg_shopify_orders,
    refunds=stg_shopify_refunds,
    charges=stg_stripe_charges,
    day=as_of,
)
