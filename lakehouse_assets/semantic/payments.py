"""semantic.payments: one row per charge, as its provider last described it, in one vocabulary.

Staging holds every event of a charge. The last word has the greatest `updated_at`, then the
greatest content, so that every order of arrival ends in the same row. What each provider says in
words and amounts of its own is said here in one way. Nothing is enriched, summed or removed.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.vocabulary import exponent, meant, minor_units, units
from lakehouse_assets.sources.payments.providers import CHARGE_STATUSES, FAILURES
from lakehouse_assets.staging.stg_payment_charges import StgPaymentCharges, stg_payment_charges


class Payments(StgPaymentCharges):
    charge_id = column("string", "The provider's id of the charge.", key=True)
    event_id = column("string", "The event that had the last word.")
    status = column("string", "pending, succeeded or failed.", nullable=True)
    failure_category = column("string", "Why it failed, in a few words.", nullable=True)
    amount = column("decimal(12,2)", "In units of `currency`.", ge=0, nullable=True)
    amount_minor = column("bigint", "In the currency's smallest unit.", ge=0, nullable=True)
    currency_exponent = column("int", "Digits behind the point: 2, or 0 for yen.", nullable=True)

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("charge_id", "event_id", "payment_method_id", "order_id"),
    )
    rules = (
        Rule("status_known", "status is not null", "the provider's word is one we know", 0.01),
        Rule(
            "failure_known",
            "failure_code is null or failure_category is not null",
            "the provider's failure code is one we know",
            0.01,
        ),
        Rule("amount_known", "amount_minor is not null and amount is not null",
             "a currency tells how much it is", 0.05),
    )  # fmt: skip
    refuses = False


def transform(events: DataFrame) -> DataFrame:
    return events.withColumns({
        "status": F.expr(meant(CHARGE_STATUSES, "provider", "provider_status")),
        "failure_category": F.expr(meant(FAILURES, "provider", "failure_code")),
        "amount": F.expr(units("provider_amount", "provider", "currency")),
        "amount_minor": F.expr(minor_units("provider_amount", "provider", "currency")),
        "currency_exponent": F.expr(exponent("currency")),
    }).select(*[f"`{c}`" for c in Payments.columns])  # fmt: skip


payments = table_asset(Payments, transform, events=stg_payment_charges)
