"""analytics.charge_decisions: one row per charge, with what was known when it was decided on.

A model that learns from what was corrected later learns what it will never see. So this knows
deliveries, not last words: a charge is decided on when Kafka receives its first good record, and
of every charge of the hour up to it counts what had arrived by then, in the newest version that
had. What comes later never changes a row; so what Kafka shows only afterwards, because its
transaction took longer, was not known. The features are those of customer_risk_features, by their
names; but for the pause since the last charge, because thirty days of deliveries would have to be
read for it.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.charge_deliveries import charge_deliveries
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset

HOUR = 3_600_000_000  # microseconds, as `at`
SAID = ("customer_id", "currency", "amount", "risk_score", "card", "country", "is_failed", "at")


class ChargeDecisions(Table):
    charge_id = column("string", "The provider's id of the charge.", key=True)
    customer_id = column("string", "The payer; NULL: nobody had said.", nullable=True)
    created_at = column("timestamp", "When the charge was made, UTC.")
    decided_at = column("timestamp", "When Kafka received its first record, UTC.")
    currency = column("string", "ISO 4217.", nullable=True)
    amount = column("decimal(12,2)", "In units of `currency`.", ge=0, nullable=True)
    risk_score = column("int", "The provider's, 0 to 100.", nullable=True)
    transactions_1h = column("bigint", "Charges known in its hour.", ge=1)
    total_amount_1h = column(
        "decimal(20,2)", "Sum of those in `currency`; NULL: it is not known.", ge=0, nullable=True
    )
    avg_risk_1h = column("double", "Mean of their known risk scores.", ge=0, le=100, nullable=True)
    cards_1h = column("bigint", "Different means of payment among them.", ge=0)
    countries_1h = column("bigint", "Different countries of cards among them.", ge=0)
    failures_1h = column("bigint", "Those before this one that were known to fail.", ge=0)

    layout = Layout(
        partitioned_by="days(decided_at)",
        scope=recompute_keys(at="created_at", reach=timedelta(hours=1)),
        unique_text=("charge_id",),
    )


def transform(deliveries: DataFrame) -> DataFrame:
    heard = deliveries.withColumn("at", F.unix_micros("created_at")).repartition("charge_id")
    early = F.struct((-F.unix_micros("arrived_at")).alias("early"), *_version())
    first = heard.groupBy("charge_id").agg(F.max(early).alias("v"))
    decided = first.select(
        "charge_id", F.expr("timestamp_micros(-v.early)").alias("decided_at"),
        *[F.col(f"v.{c}").alias(c) for c in SAID],
    )  # fmt: skip
    known = _known(decided, heard).groupBy("charge_id").agg(
        F.count(F.lit(1)).alias("transactions_1h"),
        F.expr("sum(v.amount) filter (where v.currency = currency)").alias("total_amount_1h"),
        F.avg("v.risk_score").alias("avg_risk_1h"),
        F.size(F.collect_set("v.card")).cast("bigint").alias("cards_1h"),
        F.size(F.collect_set("v.country")).cast("bigint").alias("countries_1h"),
        F.expr("count_if(v.is_failed and v.at < at)").alias("failures_1h"),
    )  # fmt: skip
    total = F.expr("if(currency is null, null, coalesce(total_amount_1h, 0))")
    return decided.join(known, "charge_id", how="inner").select(
        "charge_id", "customer_id", F.timestamp_micros("at").alias("created_at"), "decided_at",
        "currency", "amount", "risk_score", "transactions_1h",
        total.cast("decimal(20,2)").alias("total_amount_1h"), "avg_risk_1h", "cards_1h",
        "countries_1h", "failures_1h",
    )  # fmt: skip


def _version() -> list[Column]:
    """What decides between versions, as in semantic.payments, and then their content."""
    return [F.col(c) for c in ("updated_at", "event_id", *SAID)]


def _known(decided: DataFrame, heard: DataFrame) -> DataFrame:
    """For each charge and each one in its hour: the newest version of that which had arrived."""
    who = "coalesce(customer_id, concat('alone ', charge_id))"
    deciding = decided.select(
        "charge_id", "decided_at", "at", "currency", F.expr(who).alias("who"),
        F.expr(f"explode(array(at div {HOUR}, at div {HOUR} - 1))").alias("hour"),
    )  # fmt: skip
    others = heard.select(
        F.col("charge_id").alias("other"), F.col("arrived_at"), F.expr(who).alias("who"),
        F.expr(f"at div {HOUR}").alias("hour"), F.struct(*_version()).alias("v"),
    )  # fmt: skip
    within = F.expr(f"arrived_at <= decided_at and v.at between at - {HOUR} and at")
    pairs = deciding.join(others, ["who", "hour"], how="inner").where(within)
    return pairs.groupBy("charge_id", "at", "currency", "other").agg(F.max("v").alias("v"))


charge_decisions = table_asset(ChargeDecisions, transform, deliveries=charge_deliveries)
