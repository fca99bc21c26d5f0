"""analytics.payment_metrics: one row per day and currency of the shop's card payments.

How many charges went through, for how much, and what of it went back. Refunds and fees stand on the
day of their charge, disputes on the day on which they were opened. Amounts of different currencies
are never added.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_stripe_charges import stg_stripe_charges
from lakehouse_assets.staging.stg_stripe_disputes import stg_stripe_disputes

SUM, DAY = "decimal(20,2)", ["paid_on", "currency"]


class PaymentMetrics(Table):
    paid_on = column("date", "The day, UTC.", key=True)
    currency = column("string", "ISO 4217.", key=True)
    charges = column("bigint", "Charges made on the day.", ge=0)
    succeeded = column("bigint", "Those that went through.", ge=0)
    success_rate = column("double", "Share of them; NULL without charges.", ge=0, le=1,
                          nullable=True)
    amount = column(SUM, "Of those that went through, in `currency`.", ge=0)
    refunds = column("bigint", "Charges of which something was refunded since.", ge=0)
    refunded_amount = column(SUM, "What was refunded of them.", ge=0)
    disputes = column("bigint", "Disputes opened on the day.", ge=0)
    disputed_amount = column(SUM, "What they are about.", ge=0)
    fee_amount = column(SUM, "What the platform kept of the charges.", ge=0)

    layout = Layout(scope=recompute_days(at="created_at", on="paid_on"))


def transform(charges: DataFrame, disputes: DataFrame) -> DataFrame:
    day = F.to_date("created_at").alias("paid_on")
    paid = charges.groupBy(day, "currency").agg(
        F.count(F.lit(1)).alias("charges"),
        F.expr("count_if(status = 'succeeded')").alias("succeeded"),
        F.expr("sum(if(status = 'succeeded', amount, 0))").alias("amount"),
        F.expr("count_if(refunded_amount > 0)").alias("refunds"),
        F.sum("refunded_amount").alias("refunded_amount"),
        F.sum("fee_amount").alias("fee_amount"),
    )
    fought = disputes.groupBy(day, "currency").agg(
        F.count(F.lit(1)).alias("disputes"), F.sum("amount").alias("disputed_amount")
    )
    both = paid.join(fought, DAY, how="full")
    counts = [F.coalesce(c, F.lit(0)).alias(c)
              for c in ("charges", "succeeded", "refunds", "disputes")]  # fmt: skip
    sums = [F.coalesce(c, F.lit(0)).cast(SUM).alias(c)
            for c in ("amount", "refunded_amount", "disputed_amount", "fee_amount")]  # fmt: skip
    rate = F.expr("succeeded / charges").alias("success_rate")
    return both.select(*DAY, *counts, rate, *sums)


payment_metrics = table_asset(
    PaymentMetrics, transform, charges=stg_stripe_charges, disputes=stg_stripe_disputes
)
