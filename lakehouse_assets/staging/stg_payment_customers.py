"""staging.stg_payment_customers: one row per customer and moment at which they changed.

All of what was known from that moment on, or that the customer was deleted; rows are never
removed, so that a charge can be read with what was true at its time. A deletion counts from its
arrival: it says no time of its own. Of two records for one moment the greater content stands.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_customers import payment_customers
from lakehouse_assets.staging.clean import (
    country,
    differs,
    lower,
    on_time,
    spells_nothing,
    text,
)

WORDS = ("customer_id", "name", "email", "country", "segment")


class StgPaymentCustomers(StagingTable):
    customer_id = column("string", "The customer.", key=True)
    changed_at = column("timestamp", "Since when this is so, UTC.", key=True)
    customer_name = column("string", "Full name.", nullable=True, pii=True)
    email = column("string", "Where to write to.", nullable=True, pii=True)
    country = column("string", "ISO 3166 alpha-2; anything else became NULL.", nullable=True)
    segment = column("string", "consumer, small_business, …", nullable=True)
    signed_up_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)
    is_deleted = column("boolean", "From now on the customer is no more.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(scope=newest(by="changed_at", at="changed_at"))
    rules: ClassVar[tuple[Rule, ...]] = on_time("changed_at")


def transform(customers: DataFrame) -> DataFrame:
    id_or_key = F.when(F.col("is_deletion"), text("kafka_key")).otherwise(text("customer_id"))
    return customers.where("_error is null").select(
        id_or_key.alias("customer_id"),
        F.expr("if(is_deletion, arrived_at, updated_at)").alias("changed_at"),
        text("name").alias("customer_name"),
        text("email").alias("email"),
        country("country").alias("country"),
        lower("segment").alias("segment"),
        "signed_up_at",
        F.col("is_deletion").alias("is_deleted"),
        (spells_nothing(*WORDS) | differs("country", country("country"))).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_payment_customers = table_asset(StgPaymentCustomers, transform, customers=payment_customers)
