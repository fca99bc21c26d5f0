"""analytics.payment_quality_daily: one row per topic, rule, provider and day of arrival.

The history behind the checks of raw: does a provider's feed get better or worse? The hours are
summed here and nothing is measured again, so that hours, days and checks cannot disagree. Nothing
is judged: thresholds are the checks' business.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.payment_quality_hourly import payment_quality_hourly
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset


class PaymentQualityDaily(Table):
    topic = column("string", "The Kafka topic.", key=True)
    rule = column("string", "The rule of its raw table, as its check is named.", key=True)
    provider = column(
        "string", "Who sent the records, upper case; NULL where they do not say.",
        key=True, nullable=True,
    )  # fmt: skip
    arrived_on = column("date", "Day on which Kafka received them, UTC.", key=True)
    rows = column("bigint", "Records of the day.", ge=1)
    failures = column("bigint", "Those that break the rule.", ge=0)
    share = column("double", "Failures by rows.", ge=0, le=1)

    layout = Layout(scope=recompute_days(at="ingest_hour", on="arrived_on"))


def transform(hours: DataFrame) -> DataFrame:
    day = F.to_date("ingest_hour").alias("arrived_on")
    summed = hours.groupBy("topic", "rule", "provider", day).agg(
        F.sum("rows").alias("rows"), F.sum("failures").alias("failures")
    )
    share = (F.col("failures") / F.col("rows")).alias("share")
    return summed.select("topic", "rule", "provider", "arrived_on", "rows", "failures", share)


payment_quality_daily = table_asset(PaymentQualityDaily, transform, hours=payment_quality_hourly)
