"""staging.stg_stripe_customers: one row per customer of Stripe, as they last were.

Every event brings the whole customer. Here a customer stands once: a deletion is the last word,
since Stripe uses no id again; else as of the newest event, then by content. Of one who was deleted
only the id and the times are kept.

There is no time by which this table could skip files that would not split somebody's versions if it
were ever wrong, and people are few beside what they do: news of some reads the keys of all. Nothing
is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.stripe_customers import stripe_customers
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import after_epoch, country, nested, text, upper

DATA = (
    "struct<object:struct<id:string,email:string,phone:string,name:string,"
    "address:struct<country:string,city:string>,currency:string,created:bigint>>"
)


class StgStripeCustomers(StagingTable):
    customer_id = column("string", "Stripe's id of the customer.", key=True)
    email = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    phone = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    full_name = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    country = column("string", "Of the address: ISO 3166 alpha-2.", nullable=True)
    city = column("string", "Of the address.", nullable=True)
    currency = column("string", "What they are billed in: ISO 4217, upper case.", nullable=True)
    created_at = column("timestamp", "Since when they are a customer, UTC.")
    updated_at = column("timestamp", "When the newest event happened, UTC.")
    is_deleted = column("boolean", "They are no more.")

    layout = Layout(scope=newest(by=("is_deleted", "updated_at")), unique_text=("customer_id",))
    rules: ClassVar[tuple[Rule, ...]] = on_time("created_at", "updated_at")


def transform(customers: DataFrame) -> DataFrame:
    read = customers.where("_error is null").withColumn("it", nested("data", DATA)["object"])
    is_deleted = F.col("type").eqNullSafe("customer.deleted")

    def kept(value: Column, name: str) -> Column:
        return F.when(~is_deleted, value).alias(name)

    return read.select(
        text("it.id").alias("customer_id"),
        kept(text("it.email"), "email"),
        kept(text("it.phone"), "phone"),
        kept(text("it.name"), "full_name"),
        kept(country("it.address.country"), "country"),
        kept(text("it.address.city"), "city"),
        kept(upper("it.currency"), "currency"),
        after_epoch(F.col("it.created")).alias("created_at"),
        after_epoch(F.col("created")).alias("updated_at"),
        is_deleted.alias("is_deleted"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_stripe_customers = table_asset(StgStripeCustomers, transform, customers=stripe_customers)
