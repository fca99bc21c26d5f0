"""semantic.payments: one row per charge, as its provider last described it, in one vocabulary.

Staging holds every event of a charge. The last word has the greatest `updated_at`, then the
greatest event id, so that every order of arrival ends in the same row. What each provider says in
words and amounts of its own is said here in one way. Customer and merchant are told as they were
when the charge was made, and as nothing where nobody told of them, or they were deleted by then.
What is heard of them later changes the charges since. Nothing is summed or removed.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.spans import as_of
from lakehouse_assets.semantic.vocabulary import exponent, meant, minor_units, units
from lakehouse_assets.sources.payments.providers import CHARGE_STATUSES, FAILURES
from lakehouse_assets.staging.stg_payment_charges import StgPaymentCharges, stg_payment_charges
from lakehouse_assets.staging.stg_payment_customers import stg_payment_customers
from lakehouse_assets.staging.stg_payment_merchants import stg_payment_merchants


class Payments(StgPaymentCharges):
    charge_id = column("string", "The provider's id of the charge.", key=True)
    event_id = column("string", "The event that had the last word.")
    status = column("string", "pending, succeeded or failed.", nullable=True)
    failure_category = column("string", "Why it failed, in a few words.", nullable=True)
    amount = column("decimal(12,2)", "In units of `currency`.", ge=0, nullable=True)
    amount_minor = column("bigint", "In the currency's smallest unit.", ge=0, nullable=True)
    currency_exponent = column("int", "Digits behind the point: 2, or 0 for yen.", nullable=True)
    customer_country = column("string", "Where the customer lived then.", nullable=True)
    customer_segment = column("string", "consumer, small_business, … then.", nullable=True)
    signed_up_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)
    merchant_country = column("string", "Where the merchant had its seat then.", nullable=True)
    merchant_category = column("string", "What the merchant sold then.", nullable=True)
    onboarded_at = column("timestamp", "Since when it is a merchant, UTC.", nullable=True)

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at", by=("charge_id",)),
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


def transform(events: DataFrame, customers: DataFrame, merchants: DataFrame) -> DataFrame:
    latest = F.max_by(F.struct("*"), F.struct("updated_at", "event_id")).alias("event")
    charges = events.groupBy("charge_id").agg(latest).select("event.*")
    then = as_of(charges, customers, "customer_id", country="customer_country",
                 segment="customer_segment", signed_up_at="signed_up_at")  # fmt: skip
    then = as_of(then, merchants, "merchant_id", country="merchant_country",
                 category="merchant_category", onboarded_at="onboarded_at")  # fmt: skip
    return then.withColumns({
        "status": F.expr(meant(CHARGE_STATUSES, "provider", "provider_status")),
        "failure_category": F.expr(meant(FAILURES, "provider", "failure_code")),
        "amount": F.expr(units("provider_amount", "provider", "currency")),
        "amount_minor": F.expr(minor_units("provider_amount", "provider", "currency")),
        "currency_exponent": F.expr(exponent("currency")),
    }).select(*[f"`{c}`" for c in Payments.columns])  # fmt: skip


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The charges in the news, or those made since what is new of their customer or merchant. The
    first instant of that is asked for, so that older files are skipped.
    """
    if parent == "events":
        return news.select("charge_id", "created_at")
    who = "customer_id" if parent == "customers" else "merchant_id"
    since = news.groupBy(who).agg(F.min("changed_at").alias("since"))
    (first,) = since.agg(F.min("since").cast("string").alias("since")).collect()
    later = parents["events"].where(f"created_at >= timestamp'{first['since'] or '9999-01-01'}'")
    met = later.join(since, who, how="inner").where("created_at >= since")
    return met.select("charge_id", "created_at")


payments = table_asset(
    Payments,
    transform,
    mentions=mentions,
    events=stg_payment_charges,
    customers=stg_payment_customers,
    merchants=stg_payment_merchants,
)
