"""staging.stg_shopify_customers: one row per customer of the shop, as they last were.

Every change of a customer comes whole. Here a customer stands once: a deletion, or that they were
merged into another, is the last word, since Shopify uses no id again; else the newest version, then
by content. Of one who is gone the id alone is kept. A merge that did not succeed says nothing.

A deletion tells no time, so there is none by which this table could skip files: news of some
customers reads the keys of all. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.shopify_customers import shopify_customers
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import (
    country,
    from_gid,
    lower,
    nested,
    text,
    upper,
)


class StgShopifyCustomers(StagingTable):
    customer_id = column("string", "Shopify's id of the customer.", key=True)
    email = column("string", "As they typed it, trimmed.", nullable=True, pii=True)
    phone = column("string", "As they typed it, trimmed.", nullable=True, pii=True)
    first_name = column("string", "As they typed it, trimmed.", nullable=True, pii=True)
    last_name = column("string", "As they typed it, trimmed.", nullable=True, pii=True)
    country = column("string", "Of their address: ISO 3166 alpha-2.", nullable=True)
    city = column("string", "Of their address.", nullable=True)
    currency = column("string", "Of their last order: ISO 4217, upper case.", nullable=True)
    state = column("string", "enabled, disabled, invited or declined.", nullable=True)
    merged_into_id = column("string", "Whom a merge kept instead.", nullable=True)
    created_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)
    updated_at = column("timestamp", "When something last changed, UTC.", nullable=True)
    is_deleted = column("boolean", "They are no more, or are another now.")

    of = "not (_webhook_topic <=> 'customers/merge') or status <=> 'completed'"
    layout = Layout(scope=newest(by=("is_deleted", "updated_at")), unique_text=("customer_id",))
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("created_at_present", "is_deleted or created_at is not null", "a deletion has none"),
        Rule("updated_at_present", "is_deleted or updated_at is not null", "a deletion has none"),
        *on_time("created_at", "updated_at"),
    )


def transform(customers: DataFrame) -> DataFrame:
    is_merge = F.col("_webhook_topic").eqNullSafe("customers/merge")
    is_gone = is_merge | F.col("_webhook_topic").eqNullSafe("customers/delete")

    def kept(value: Column, name: str) -> Column:
        return F.when(~is_gone, value).alias(name)

    read = customers.where("_error is null").where(StgShopifyCustomers.of)
    home = nested("default_address", "struct<country_code:string,city:string>")
    return read.withColumn("home", home).select(
        F.when(is_merge, from_gid("customer_deleted_id"))
        .otherwise(text("id"))
        .alias("customer_id"),
        *[kept(text(name), name) for name in ("email", "phone", "first_name", "last_name")],
        kept(country("home.country_code"), "country"),
        kept(text("home.city"), "city"),
        kept(upper("currency"), "currency"),
        kept(lower("state"), "state"),
        F.when(is_merge, from_gid("customer_kept_id")).alias("merged_into_id"),
        kept(F.col("created_at"), "created_at"),
        kept(F.col("updated_at"), "updated_at"),
        is_gone.alias("is_deleted"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_shopify_customers = table_asset(StgShopifyCustomers, transform, customers=shopify_customers)
