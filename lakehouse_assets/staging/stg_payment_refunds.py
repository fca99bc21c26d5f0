"""staging.stg_payment_refunds: one row per refund event, cleaned.

Raw keeps every delivery. Here an event stands once, its newest version, then by content; every
spelling of "nothing" is NULL and the many spellings of a reason are one word. A refund that says no
status is set aside: nobody could tell whether money moved. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_refunds import payment_refunds
from lakehouse_assets.sources.payments.providers import CURRENCIES, PROVIDERS, REFUND_REASONS
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
    "event_id", "event_type", "provider", "refund_id", "charge_id", "customer_id", "currency",
    "status", "reason", "failure_reason", "merchant_id", "metadata.refund_requested_by",
    "metadata.original_order_id", "metadata.support_ticket_id",
)  # fmt: skip


class StgPaymentRefunds(StagingTable):
    event_id = column("string", "The provider's event id.", key=True)
    event_type = column("string", "What happened, lower case.", nullable=True)
    provider = column("string", "Who sends it, upper case.", isin=PROVIDERS)
    refund_id = column("string", "The provider's id of the refund.")
    charge_id = column("string", "The charge that is refunded; it may not have arrived yet.")
    customer_id = column("string", "Who gets the money back.", nullable=True)
    provider_amount = column("decimal(10,2)", "As it writes it: some in hundredths.", ge=0)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES), nullable=True)
    provider_status = column("string", "The provider's word for how far it is, lower case.")
    reason = column("string", "Why, one of a few words.", nullable=True)
    failure_reason = column("string", "Why it failed.", nullable=True)
    merchant_id = column("string", "Who pays.", nullable=True)
    refund_requested_by = column("string", "customer, support, merchant, …", nullable=True)
    original_order_id = column("string", "The shop's order.", nullable=True)
    support_ticket_id = column("string", "The support desk's ticket.", nullable=True)
    created_at = column("timestamp", "When the refund was made, UTC.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("event_id", "refund_id"),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        *on_time("created_at", "updated_at"),
        Rule("reason_vocabulary", f"reason in {tuple(REFUND_REASONS)}", "a reason we know"),
        Rule(
            "support_ticket_present",
            "support_ticket_id is not null",
            "a support ticket is named",
            threshold=0.5,
            refuses=False,
        ),
    )


def transform(refunds: DataFrame) -> DataFrame:
    reason = one_of("reason", REFUND_REASONS)
    return refunds.where("_error is null").select(
        text("event_id").alias("event_id"),
        lower("event_type").alias("event_type"),
        upper("provider").alias("provider"),
        *texts("refund_id", "charge_id", "customer_id"),
        F.col("amount").alias("provider_amount"),
        upper("currency").alias("currency"),
        lower("status").alias("provider_status"),
        reason.alias("reason"),
        *texts("failure_reason", "merchant_id"),
        text("metadata.refund_requested_by").alias("refund_requested_by"),
        text("metadata.original_order_id").alias("original_order_id"),
        text("metadata.support_ticket_id").alias("support_ticket_id"),
        "created_at",
        "updated_at",
        (
            spells_nothing(*WORDS) | differs("currency", upper("currency"))
            | differs("reason", reason)
        ).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )  # fmt: skip


stg_payment_refunds = table_asset(StgPaymentRefunds, transform, refunds=payment_refunds)
