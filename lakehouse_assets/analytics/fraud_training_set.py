"""analytics.fraud_training_set: one row per charge, its features as they were known, and its label.

What a fraud model is trained on. The features are those of charge_decisions, which saw nothing
that arrived after the decision; the label is hindsight, and may be: whether the charge was
disputed and the dispute lost within sixty days. Until `label_final_at` a label of false may still
become true: train on rows that are past it. A dispute of an unknown charge labels nothing. Nothing
is sampled or scaled.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.charge_decisions import ChargeDecisions, charge_decisions
from lakehouse_assets.lake.contract import Layout, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.dispute_lifecycle import dispute_lifecycle

WITHIN = "interval 60 days"


class FraudTrainingSet(ChargeDecisions):
    is_lost_within_60_days = column("boolean", "The label: disputed and lost by then.")
    label_final_at = column("timestamp", "From when on the label cannot change, UTC.")

    layout = Layout(
        partitioned_by="days(decided_at)",
        # Not by `created_at`: a dispute has its own, at which its charge's row does not lie.
        scope=recompute_keys(at="decided_at", by=("charge_id",)),
        unique_text=("charge_id",),
    )


def transform(decisions: DataFrame, disputes: DataFrame) -> DataFrame:
    lost = disputes.where("status = 'lost'").groupBy("charge_id")
    ended = lost.agg(F.min("closed_at").alias("at"))
    final = F.expr(f"created_at + {WITHIN}")
    return decisions.join(ended, "charge_id", how="left").select(
        F.expr(f"coalesce(at <= created_at + {WITHIN}, false)").alias("is_lost_within_60_days"),
        final.alias("label_final_at"),
        *ChargeDecisions.columns,
    )


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """A dispute may come long after its charge was decided on, which tells where the row lies."""
    told = news
    if parent == "disputes":
        told = parents["decisions"].join(news, "charge_id", how="left_semi")
    return told.select("charge_id", "decided_at")


fraud_training_set = table_asset(
    FraudTrainingSet,
    transform,
    mentions=mentions,
    decisions=charge_decisions,
    disputes=dispute_lifecycle,
)
