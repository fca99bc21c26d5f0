"""analytics.charge_deliveries: one row per good record of a charge, whichever version it told.

Staging keeps the newest version of an event; what was known at an earlier instant is told only by
all deliveries, each with its arrival. They stand here cleaned once, as far as features look at
them, by the days of their charges, so that a charge's hour is read without reading raw again.
Nothing is deduplicated and nothing is decided.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.lake.versions import good
from lakehouse_assets.raw.payment_charges import payment_charges
from lakehouse_assets.semantic.vocabulary import CARD, meant, units
from lakehouse_assets.sources.payments.providers import CHARGE_STATUSES
from lakehouse_assets.staging.stg_payment_charges import stg_payment_charges


class ChargeDeliveries(Table):
    topic_generation = column("int", "Which incarnation of the topic.", key=True)
    kafka_partition = column("int", "Kafka partition of the record.", key=True)
    kafka_offset = column("bigint", "Its offset there.", key=True)
    event_id = column("string", "The provider's event id; a re-delivery repeats it.")
    charge_id = column("string", "The provider's id of the charge.")
    customer_id = column("string", "The payer, as this record says.", nullable=True)
    currency = column("string", "ISO 4217.", nullable=True)
    amount = column("decimal(12,2)", "In units of `currency`.", ge=0, nullable=True)
    risk_score = column("int", "The provider's, 0 to 100.", nullable=True)
    card = column("string", "Means of payment, else brand and last digits.", nullable=True)
    country = column("string", "Of the card, ISO 3166 alpha-2.", nullable=True)
    is_failed = column("boolean", "Whether it says that the charge failed.")
    created_at = column("timestamp", "When the charge was made, UTC.")
    updated_at = column("timestamp", "When the provider changed it to this, UTC.")
    arrived_at = column("timestamp", "When Kafka received the record, UTC.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at"),
        unique_text=("event_id", "charge_id"),
    )


def transform(charges: DataFrame) -> DataFrame:
    status = meant(CHARGE_STATUSES, "provider", "provider_status")
    return good(stg_payment_charges, charges).select(
        "_record.topic_generation", "_record.kafka_partition", "_record.kafka_offset",
        "event_id", "charge_id", "customer_id", "currency",
        F.expr(units("provider_amount", "provider", "currency")).alias("amount"),
        "risk_score",
        F.expr(CARD).alias("card"),
        F.col("card_country").alias("country"),
        F.expr(f"{status} <=> 'failed'").alias("is_failed"),
        "created_at", "updated_at", "arrived_at",
    )  # fmt: skip


charge_deliveries = table_asset(
    ChargeDeliveries, transform, charges=payment_charges, rebuilt_with=(stg_payment_charges,)
)
