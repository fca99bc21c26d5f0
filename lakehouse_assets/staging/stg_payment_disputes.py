"""staging.stg_payment_disputes: one row per dispute event, cleaned.

Raw keeps every delivery. Here an event stands once, its newest version, then by content; every
spelling of "nothing" is NULL and only whole case numbers remain. A dispute that says no currency is
set aside: nobody could tell how much is at stake. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_disputes import payment_disputes
from lakehouse_assets.sources.payments.providers import CURRENCIES, NETWORK_REASONS, PROVIDERS
from lakehouse_assets.staging.clean import (
    differs,
    lower,
    matching,
    on_time,
    one_of,
    spells_nothing,
    text,
    texts,
    upper,
)

CASE_NUMBER = r"^CB-[0-9]{4}-[0-9]{6}\z"
REASONS: dict[str, tuple[str, ...]] = {reason: (reason,) for reason in NETWORK_REASONS}
WORDS = (
    "event_id", "event_type", "provider", "dispute_id", "charge_id", "customer_id", "merchant_id",
    "currency", "status", "network_reason_code", "reason", "case_number",
    "evidence.customer_communication", "evidence.receipt_id", "evidence.metadata.submitted_by",
)  # fmt: skip


class StgPaymentDisputes(StagingTable):
    event_id = column("string", "The provider's event id.", key=True)
    event_type = column("string", "What happened, lower case.", nullable=True)
    provider = column("string", "Who sends it, upper case.", isin=PROVIDERS)
    dispute_id = column("string", "The provider's id of the dispute.")
    charge_id = column("string", "The charge that is disputed; it may be unknown.")
    customer_id = column("string", "Who disputes it.", nullable=True)
    merchant_id = column("string", "Who answers.", nullable=True)
    provider_amount = column("decimal(10,2)", "As it writes it: some in hundredths.", ge=0)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES))
    provider_status = column("string", "The provider's word for how far it is, lower case.")
    network_reason_code = column("string", "The card network's code.", nullable=True)
    reason = column("string", "Why, one of a few words.", nullable=True)
    case_number = column("string", "Whole, or NULL.", str_matches=CASE_NUMBER, nullable=True)
    customer_communication = column("string", "What was said to them.", nullable=True, pii=True)
    receipt_id = column("string", "The receipt handed in.", nullable=True)
    evidence_submitted_by = column("string", "Who handed evidence in.", nullable=True)
    evidence_document_count = column("int", "How many documents.", nullable=True)
    evidence_due_at = column("timestamp", "Until when it may be handed in, UTC.", nullable=True)
    created_at = column("timestamp", "When it was opened, UTC.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("event_id", "dispute_id"),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        *on_time("created_at", "updated_at"),
        Rule(
            "reason_vocabulary",
            f"reason in {tuple(NETWORK_REASONS)}",
            "a reason we know",
            threshold=0.05,
            refuses=False,
        ),
        Rule(
            "evidence_metadata_present",
            "evidence_submitted_by is not null",
            "evidence says who handed it in",
            threshold=0.2,
            refuses=False,
        ),
        Rule(
            "case_numbers_whole",
            "case_number is not null",
            "a whole case number was sent",
            threshold=0.2,
            refuses=False,
        ),
    )


def transform(disputes: DataFrame) -> DataFrame:
    case_number, reason = matching("case_number", CASE_NUMBER), one_of("reason", REASONS)
    return disputes.where("_error is null").select(
        text("event_id").alias("event_id"),
        lower("event_type").alias("event_type"),
        upper("provider").alias("provider"),
        *texts("dispute_id", "charge_id", "customer_id", "merchant_id"),
        F.col("amount").alias("provider_amount"),
        upper("currency").alias("currency"),
        lower("status").alias("provider_status"),
        text("network_reason_code").alias("network_reason_code"),
        reason.alias("reason"),
        case_number.alias("case_number"),
        text("evidence.customer_communication").alias("customer_communication"),
        text("evidence.receipt_id").alias("receipt_id"),
        text("evidence.metadata.submitted_by").alias("evidence_submitted_by"),
        F.col("evidence.metadata.document_count").alias("evidence_document_count"),
        "evidence_due_at",
        "created_at",
        "updated_at",
        (
            spells_nothing(*WORDS) | differs("currency", upper("currency"))
            | differs("reason", reason) | differs("case_number", case_number)
        ).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )  # fmt: skip


stg_payment_disputes = table_asset(StgPaymentDisputes, transform, disputes=payment_disputes)
