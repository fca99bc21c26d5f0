"""staging.stg_shopify_refunds: one row per refund of an order.

Shopify tells of a refund once, when it is made, with what was moved for it; its amount is what of
that succeeded. A refund that does not say so is set aside. Which part of an order is left is the
marts' business: nothing is joined.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.webhook import MONEY
from lakehouse_assets.raw.webhooks_other import webhooks_other
from lakehouse_assets.sources.webhooks.countries import CURRENCIES
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import instant, lower, money, nested, text, upper

MOVED = "array<struct<kind:string,status:string,amount:string,currency:string>>"


class StgShopifyRefunds(StagingTable):
    refund_id = column("string", "Shopify's id of the refund.", key=True)
    order_id = column("string", "The order; it may not have arrived yet.")
    amount = column(MONEY, "What was paid back, in units of `currency`.", ge=0)
    currency = column("string", "ISO 4217, upper case; none if nothing was moved.",
                      isin=tuple(CURRENCIES), nullable=True)  # fmt: skip
    created_at = column("timestamp", "When the refund was made, UTC.")

    of = "_vendor <=> 'shopify' and _webhook_topic <=> 'refunds/create'"
    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="created_at", at="created_at"),
        unique_text=("refund_id",),
    )
    rules: ClassVar[tuple[Rule, ...]] = on_time("created_at")


def transform(others: DataFrame) -> DataFrame:
    succeeded = F.filter(
        nested("transactions", MOVED),
        lambda one: F.coalesce(
            (lower(one["kind"]) == "refund") & (lower(one["status"]) == "success"), F.lit(False)
        ),
    )
    refunds = others.where("_error is null").where(StgShopifyRefunds.of)
    return refunds.withColumn("paid", succeeded).select(
        text("id").alias("refund_id"),
        text("order_id").alias("order_id"),
        F.aggregate(
            "paid",
            F.lit(0).cast(MONEY),
            lambda sum, one: (sum + money(one["amount"])).try_cast(MONEY),
        ).alias("amount"),
        F.array_max(F.transform("paid", lambda one: upper(one["currency"]))).alias("currency"),
        instant("created_at").alias("created_at"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_shopify_refunds = table_asset(StgShopifyRefunds, transform, others=webhooks_other)
