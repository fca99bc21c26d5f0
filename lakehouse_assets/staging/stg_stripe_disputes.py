"""staging.stg_stripe_disputes: one row per dispute of a charge, as it last was.

Every event brings the whole dispute. Here it stands once, as of its newest event, then by content;
the amount is in units of its currency. A dispute of which nobody could tell of what, how much, when
or how it stands is set aside. Nothing is joined or summed.
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
from lakehouse_assets.staging.vendors import WHOLE, after_epoch, lower, nested, text, units, upper

DATA = (
    "struct<object:struct<id:string,charge:string,amount:bigint,currency:string,reason:string,"
    "status:string,created:bigint>>"
)


class StgStripeDisputes(StagingTable):
    dispute_id = column("string", "Stripe's id of the dispute.", key=True)
    charge_id = column("string", "The charge; it may not have arrived yet.")
    amount = column(MONEY, "What is disputed, in units of `currency`.", ge=0)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES))
    reason = column("string", "Why: fraudulent, duplicate, …, lower case.", nullable=True)
    status = column("string", "needs_response, won, lost, …, lower case.")
    created_at = column("timestamp", "When the dispute began, UTC.")
    updated_at = column("timestamp", "When the newest event happened, UTC.")

    of = "_vendor <=> 'stripe' and startswith(coalesce(_webhook_topic, ''), 'charge.dispute.')"
    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("dispute_id", "charge_id"),
    )
    rules: ClassVar[tuple[Rule, ...]] = on_time("created_at", "updated_at")


def transform(others: DataFrame) -> DataFrame:
    read = others.where("_error is null").where(StgStripeDisputes.of)
    event_s = F.when(F.col("created").rlike(WHOLE), F.col("created").try_cast("bigint"))
    currency = upper("it.currency")
    return read.withColumn("it", nested("data", DATA)["object"]).select(
        text("it.id").alias("dispute_id"),
        text("it.charge").alias("charge_id"),
        units(F.col("it.amount"), currency).alias("amount"),
        currency.alias("currency"),
        lower("it.reason").alias("reason"),
        lower("it.status").alias("status"),
        after_epoch(F.col("it.created")).alias("created_at"),
        after_epoch(event_s).alias("updated_at"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_stripe_disputes = table_asset(StgStripeDisputes, transform, others=webhooks_other)
