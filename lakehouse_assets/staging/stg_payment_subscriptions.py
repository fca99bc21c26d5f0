"""staging.stg_payment_subscriptions: one row per subscription event, cleaned.

Raw keeps every delivery. Here an event stands once, its newest version, then by content; rows are
never removed, because a subscription's history is made of them. Every spelling of "nothing" is NULL
and the many spellings of an interval are one word. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_subscriptions import payment_subscriptions
from lakehouse_assets.sources.payments.providers import CURRENCIES, INTERVALS, PROVIDERS
from lakehouse_assets.staging.clean import (
    differs,
    lower,
    on_time,
    one_of,
    spells_nothing,
    text,
    texts,
    upper,
)

WORDS = (
    "event_id", "event_type", "provider", "subscription_id", "customer_id", "merchant_id",
    "status", "plan_id", "plan_name", "plan_interval", "plan_currency", "coupon_code", "promo_code",
)  # fmt: skip


class StgPaymentSubscriptions(StagingTable):
    event_id = column("string", "The provider's event id.", key=True)
    event_type = column("string", "What happened, lower case.", nullable=True)
    provider = column("string", "Who sends it, upper case.", isin=PROVIDERS)
    subscription_id = column("string", "The provider's id of the subscription.")
    customer_id = column("string", "Who subscribes.", nullable=True)
    merchant_id = column("string", "Who is paid.", nullable=True)
    status = column("string", "trialing, active, past_due or canceled.", nullable=True)
    plan_id = column("string", "What is subscribed to.", nullable=True)
    plan_name = column("string", "The same for people.", nullable=True)
    plan_interval = column("string", "How often it is paid: day, week, month, year.", nullable=True)
    provider_plan_amount = column("decimal(10,2)", "Price, as the provider writes it.", ge=0)
    plan_currency = column("string", "ISO 4217.", isin=tuple(CURRENCIES), nullable=True)
    trial_start_at = column("timestamp", "Begin of the trial, UTC.", nullable=True)
    trial_end_at = column("timestamp", "Its end, UTC.", nullable=True)
    discount_percent = column("int", "Of the price.", nullable=True)
    coupon_code = column("string", "Of which campaign.", nullable=True)
    promo_code = column("string", "As the customer typed it.", nullable=True)
    canceled_at = column("timestamp", "When it was canceled, UTC.", nullable=True)
    created_at = column("timestamp", "When it began, UTC.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("event_id",),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        *on_time("created_at", "updated_at"),
        Rule("interval_vocabulary", f"plan_interval in {tuple(INTERVALS)}", "one that we know"),
        Rule(
            "trial_dates_present",
            "status != 'trialing' or (trial_start_at is not null and trial_end_at is not null)",
            "a trial has a begin and an end",
            threshold=0.1,
            refuses=False,
        ),
        Rule(
            "promo_codes_present",
            "discount_percent is null or promo_code is not null",
            "a discount has a promo code",
            threshold=0.1,
            refuses=False,
        ),
    )


def transform(subscriptions: DataFrame) -> DataFrame:
    interval = one_of("plan_interval", INTERVALS)
    return subscriptions.where("_error is null").select(
        text("event_id").alias("event_id"),
        lower("event_type").alias("event_type"),
        upper("provider").alias("provider"),
        *texts("subscription_id", "customer_id", "merchant_id"),
        lower("status").alias("status"),
        *texts("plan_id", "plan_name"),
        interval.alias("plan_interval"),
        F.col("plan_amount").alias("provider_plan_amount"),
        upper("plan_currency").alias("plan_currency"),
        "trial_start_at",
        "trial_end_at",
        "discount_percent",
        *texts("coupon_code", "promo_code"),
        "canceled_at",
        "created_at",
        "updated_at",
        (
            spells_nothing(*WORDS) | differs("plan_currency", upper("plan_currency"))
            | differs("plan_interval", interval)
        ).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )  # fmt: skip


stg_payment_subscriptions = table_asset(
    StgPaymentSubscriptions, transform, subscriptions=payment_subscriptions
)
