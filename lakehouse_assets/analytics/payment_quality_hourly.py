"""analytics.payment_quality_hourly: one row per topic, rule, provider and hour of arrival.

Raw's checks say how dirty a feed is now; this says whose records they are, hour by hour. Every rule
of the six raw tables is counted over the records of the hour as they stand: what is late or
replayed counts in the hour in which Kafka received it. A record that names no provider or did not
parse counts under none, and so do customers and merchants. Nothing is judged: thresholds are the
checks' business. Raw's records are only ever added, so each is counted once and the hour's others
are not read again; where raw was made anew, so are the counts. A rule that changes counts what
comes from then on, and after `lakehouse rebuild` everything.
"""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.contract import Layout, Table, column, own_rows
from lakehouse_assets.lake.table import table_asset

# The modules, for their rules are code of this table too: it changes when they do.
from lakehouse_assets.raw import (
    payment_charges,
    payment_customers,
    payment_disputes,
    payment_merchants,
    payment_refunds,
    payment_subscriptions,
)
from lakehouse_assets.staging.clean import upper


class PaymentQualityHourly(Table):
    topic = column("string", "The Kafka topic.", key=True)
    rule = column("string", "The rule of its raw table, as its check is named.", key=True)
    provider = column(
        "string", "Who sent the records, upper case; NULL where they do not say.",
        key=True, nullable=True,
    )  # fmt: skip
    ingest_hour = column("timestamp", "Kafka's hour of arrival, as in raw, UTC.", key=True)
    rows = column("bigint", "Records of the hour.", ge=1)
    failures = column("bigint", "Those that break the rule.", ge=0)

    layout = Layout(partitioned_by="days(ingest_hour)", scope=own_rows(at="ingest_hour"))


def transform(here: DataFrame, **raw: DataFrame) -> tuple[DataFrame, DataFrame]:
    """What is new is counted and added to the counts of its hours."""
    measured = [_measured(topic, records) for topic, records in raw.items()]
    every = reduce(lambda one, other: one.unionAll(other), measured)
    columns, hours = [*PaymentQualityHourly.columns], every.select("ingest_hour")
    old = here.where("_counts").join(hours, "ingest_hour", how="left_semi").select(*columns)
    both = every.select(*columns).unionAll(old)
    made = both.groupBy("topic", "rule", "provider", "ingest_hour").agg(
        F.sum("rows").alias("rows"), F.sum("failures").alias("failures")
    )
    return made, old


def _measured(topic: str, records: DataFrame) -> DataFrame:
    """All rules of a topic in one pass, then a row for each of them."""
    rules = payment_quality_hourly.parents[topic].contract.all_rules()
    named = "provider" in records.columns
    provider = upper("provider") if named else F.lit(None).cast("string")
    counted = records.groupBy("ingest_hour", provider.alias("provider")).agg(
        F.count(F.lit(1)).alias("rows"), *quality.broken(rules)
    )
    group = (F.lit(topic).alias("topic"), F.col("provider"), F.col("ingest_hour"), F.col("rows"))
    return counted.unpivot(group, [rule.name for rule in rules], "rule", "failures")


payment_quality_hourly = table_asset(
    PaymentQualityHourly,
    transform,
    payment_charges=payment_charges.payment_charges,
    payment_customers=payment_customers.payment_customers,
    payment_disputes=payment_disputes.payment_disputes,
    payment_merchants=payment_merchants.payment_merchants,
    payment_refunds=payment_refunds.payment_refunds,
    payment_subscriptions=payment_subscriptions.payment_subscriptions,
)
