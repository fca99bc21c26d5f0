"""staging.stg_stripe_charges: one row per charge of Stripe, as it last was.

Every event brings the whole charge. Here it stands once, as of its newest event, then by content;
amounts are in units of their currency. A charge of which nobody could tell how much, in what
currency, when or how it went is set aside. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.stripe_charges import stripe_charges
from lakehouse_assets.raw.webhook import MONEY
from lakehouse_assets.sources.webhooks.countries import CURRENCIES
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import after_epoch, country, lower, nested, text, units, upper

DATA = (
    "struct<object:struct<id:string,customer:string,payment_intent:string,amount:bigint,"
    "amount_refunded:bigint,application_fee_amount:bigint,currency:string,status:string,"
    "paid:boolean,refunded:boolean,disputed:boolean,failure_code:string,failure_message:string,"
    "billing_details:struct<email:string>,"
    "payment_method_details:struct<card:struct<brand:string,last4:string,country:string>>,"
    "created:bigint>>"
)


class StgStripeCharges(StagingTable):
    charge_id = column("string", "Stripe's id of the charge.", key=True)
    customer_id = column("string", "Who paid; nobody if it was a guest.", nullable=True)
    payment_intent_id = column("string", "What it was an attempt at.", nullable=True)
    amount = column(MONEY, "In units of `currency`.", ge=0)
    refunded_amount = column(MONEY, "What was paid back, likewise.", nullable=True)
    fee_amount = column(MONEY, "What the platform kept, likewise.", nullable=True)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES))
    status = column("string", "succeeded, pending or failed.")
    is_paid = column("boolean", "It succeeded, or was authorized.")
    is_refunded = column("boolean", "All of it was paid back.")
    is_disputed = column("boolean", "The payer's bank disputes it.")
    failure_code = column("string", "Why it failed.", nullable=True)
    failure_message = column("string", "The same for people.", nullable=True)
    email = column("string", "As typed when paying, lower case.", nullable=True, pii=True)
    card_brand = column("string", "visa, mastercard, …, lower case.", nullable=True)
    card_last4 = column("string", "Last four digits.", nullable=True, pii=True)
    card_country = column("string", "Of the issuer: ISO 3166 alpha-2.", nullable=True)
    created_at = column("timestamp", "When the charge was made, UTC.")
    updated_at = column("timestamp", "When the newest event happened, UTC.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("charge_id", "payment_intent_id"),
    )
    rules: ClassVar[tuple[Rule, ...]] = on_time("created_at", "updated_at")


def transform(charges: DataFrame) -> DataFrame:
    read = charges.where("_error is null").withColumn("it", nested("data", DATA)["object"])
    currency, card = upper("it.currency"), "it.payment_method_details.card"
    flags = {"is_paid": "paid", "is_refunded": "refunded", "is_disputed": "disputed"}
    return read.select(
        text("it.id").alias("charge_id"),
        text("it.customer").alias("customer_id"),
        text("it.payment_intent").alias("payment_intent_id"),
        units(F.col("it.amount"), currency).alias("amount"),
        units(F.col("it.amount_refunded"), currency).alias("refunded_amount"),
        units(F.col("it.application_fee_amount"), currency).alias("fee_amount"),
        currency.alias("currency"),
        lower("it.status").alias("status"),
        *[F.coalesce(f"it.{flag}", F.lit(False)).alias(name) for name, flag in flags.items()],
        text("it.failure_code").alias("failure_code"),
        text("it.failure_message").alias("failure_message"),
        lower("it.billing_details.email").alias("email"),
        lower(f"{card}.brand").alias("card_brand"),
        text(f"{card}.last4").alias("card_last4"),
        country(f"{card}.country").alias("card_country"),
        after_epoch(F.col("it.created")).alias("created_at"),
        after_epoch(F.col("created")).alias("updated_at"),
        "arrived_at",
        F.expr(RECORD),
    )


stg_stripe_charges = table_asset(StgStripeCharges, transform, charges=stripe_charges)
