"""marts.payments_daily: one row per day, provider, status and currency.

What a payments team looks at first: how many charges, how much, how many fail, how dirty the
feed is. Amounts of different currencies are never added. `failure_rate` is that of the day,
provider and currency over all statuses.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.payments import payments as semantic_payments


class PaymentsDaily(Table):
    created_on = column("date", "Day on which the charges were made, UTC.", key=True)
    provider = column("string", "STRIPE, BRAINTREE or ADYEN.", key=True)
    status = column("string", "pending, succeeded or failed.", key=True, nullable=True)
    currency = column("string", "ISO 4217.", key=True, nullable=True)
    payments = column("bigint", "Charges.", ge=1)
    amount = column("decimal(20,2)", "Their sum, in `currency`.", ge=0, nullable=True)
    average_amount = column("decimal(20,2)", "Sum by count, half up.", ge=0, nullable=True)
    failure_rate = column(
        "double", "Failed charges by all of the day, provider, currency.", ge=0, le=1
    )
    dirty_share = column("double", "Charges whose last event had to be mended.", ge=0, le=1)

    layout = Layout(scope=recompute_days(at="created_at", on="created_on"))


def transform(payments: DataFrame) -> DataFrame:
    failed = F.expr("count_if(status = 'failed')")
    grouped = payments.groupBy(
        F.to_date("created_at").alias("created_on"), "provider", "status", "currency"
    ).agg(
        F.count(F.lit(1)).alias("payments"),
        F.sum("amount").alias("amount"),
        F.expr("count_if(is_dirty)").alias("dirty"),
        failed.alias("failed"),
    )
    market = Window.partitionBy("created_on", "provider", "currency")
    return grouped.select(
        "created_on",
        "provider",
        "status",
        "currency",
        "payments",
        F.col("amount").cast("decimal(20,2)").alias("amount"),
        F.expr("cast(amount / payments as decimal(20,2))").alias("average_amount"),
        (F.sum("failed").over(market) / F.sum("payments").over(market)).alias("failure_rate"),
        (F.col("dirty") / F.col("payments")).alias("dirty_share"),
    )


payments_daily = table_asset(PaymentsDaily, transform, payments=semantic_payments)
