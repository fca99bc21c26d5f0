"""staging.stg_payment_merchants: one row per merchant and moment at which they changed.

All of what was known from that moment on, or that the merchant was deleted; rows are never
removed, so that a charge can be read with what was true at its time. A deletion counts from its
arrival: it says no time of its own. Of two records for one moment the greater content stands.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_merchants import payment_merchants
from lakehouse_assets.staging.clean import country, differs, lower, on_time, spells_nothing, text

WORDS = ("merchant_id", "name", "category", "country")


class StgPaymentMerchants(StagingTable):
    merchant_id = column("string", "The merchant.", key=True)
    changed_at = column("timestamp", "Since when this is so, UTC.", key=True)
    merchant_name = column("string", "As customers know it.", nullable=True)
    category = column("string", "What it sells, lower case.", nullable=True)
    country = column("string", "ISO 3166 alpha-2; anything else became NULL.", nullable=True)
    onboarded_at = column("timestamp", "Since when it is a merchant, UTC.", nullable=True)
    is_deleted = column("boolean", "From now on the merchant is no more.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(scope=newest(by="changed_at", at="changed_at"))
    rules: ClassVar[tuple[Rule, ...]] = on_time("changed_at")


def transform(merchants: DataFrame) -> DataFrame:
    id_or_key = F.when(F.col("is_deletion"), text("kafka_key")).otherwise(text("merchant_id"))
    return merchants.where("_error is null").select(
        id_or_key.alias("merchant_id"),
        F.expr("if(is_deletion, arrived_at, updated_at)").alias("changed_at"),
        text("name").alias("merchant_name"),
        lower("category").alias("category"),
        country("country").alias("country"),
        "onboarded_at",
        F.col("is_deletion").alias("is_deleted"),
        (spells_nothing(*WORDS) | differs("country", country("country"))).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_payment_merchants = table_asset(StgPaymentMerchants, transform, merchants=payment_merchants)
