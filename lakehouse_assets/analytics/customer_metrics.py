"""analytics.customer_metrics: one row per entity, with what they ordered and paid in the shop.

A person may have accounts in several systems, and orders in several of them; here it is one row.
Amounts are those of the currency in which they ordered most, for amounts of different currencies
are never added; orders in others are counted. Cancelled orders are no orders. Those of an account
that was merged into another are the other's, however often that happened again (up to MERGES).

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
from lakehouse_assets.staging.stg_shopify_customers import stg_shopify_customers
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders
from lakehouse_assets.staging.stg_shopify_refunds import stg_shopify_refunds
from lakehouse_assets.staging.stg_stripe_charges import stg_stripe_charges

MERGES = 6  # of one account after the other that are followed
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
    entities: DataFrame, orders: DataFrame, refunds: DataFrame, charges: DataFrame, day: DataFrame,
    accounts: DataFrame,
) -> DataFrame:  # fmt: skip
    people = entities.groupBy("entity_id").agg(
        F.array_sort(F.collect_set("source")).alias("sources")
    )
    real = _of(_buyers(entities, accounts), orders.where(REAL))
    told = people.join(_ordered(real, refunds), "entity_id", how="left")
    told = told.join(_paid(_of(_known(entities, "stripe"), charges)), "entity_id", how="left")
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


def _ordered(orders: DataFrame, refunds: DataFrame) -> DataFrame:
    """Per entity: their orders, and what those of the commonest currency came to."""
    back = refunds.groupBy("order_id", "currency").agg(F.sum("amount").alias("back"))
    each = orders.join(back, ["order_id", "currency"], how="left").groupBy(
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


def _paid(charges: DataFrame) -> DataFrame:
    return charges.groupBy("entity_id").agg(
        F.expr("count_if(status = 'succeeded')").alias("payments_succeeded"),
        F.expr("count_if(status = 'failed')").alias("payments_failed"),
    )


def _of(theirs: DataFrame, rows: DataFrame) -> DataFrame:
    """Rows with the entity of their customer."""
    return rows.join(theirs, "customer_id", how="inner")


def _known(entities: DataFrame, source: str) -> DataFrame:
    """By which numbers this system knows each entity."""
    return entities.where(f"source = '{source}'").select(
        "entity_id", F.col("source_id").alias("customer_id")
    )


def _buyers(entities: DataFrame, accounts: DataFrame) -> DataFrame:
    """The shop's accounts of each entity, and those that were merged into them."""
    own = _known(entities, "shopify")
    heirs = own.select("entity_id", F.col("customer_id").alias("kept_id"))
    merged = _kept(accounts).join(heirs, "kept_id", how="inner")
    return own.unionByName(merged.select("entity_id", "customer_id"))


def _kept(accounts: DataFrame) -> DataFrame:
    """Which account stands for one that was merged, after all merges."""
    merges = accounts.where("merged_into_id is not null")
    kept = merges.select("customer_id", F.col("merged_into_id").alias("kept_id"))
    following = merges.select(F.col("customer_id").alias("kept_id"), "merged_into_id")
    for _ in range(MERGES - 1):
        last = F.coalesce("merged_into_id", "kept_id").alias("kept_id")
        kept = kept.join(following, "kept_id", how="left").select("customer_id", last)
    return kept


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The entities in the news, or those of whose orders, charges and merges they are."""
    entities = parents["entities"]
    if parent == "entities":
        return news.select("entity_id")
    if parent == "day":
        return entities.select("entity_id")
    if parent == "charges":
        return _of(_known(entities, "stripe"), news).select("entity_id")
    if parent == "refunds":
        news = parents["orders"].join(news.select("order_id"), "order_id", how="left_semi")
    if parent == "accounts":
        news = news.select(F.col("merged_into_id").alias("customer_id"))
    return _of(_buyers(entities, parents["accounts"]), news).select("entity_id")


customer_metrics = table_asset(
    CustomerMetrics,
    transform,
    mentions=mentions,
    entities=entity_index,
    orders=stg_shopify_orders,
    refunds=stg_shopify_refunds,
    charges=stg_stripe_charges,
    day=as_of,
    accounts=stg_shopify_customers,
)
