"""staging.stg_payment_charges: one row per charge event, cleaned.

Raw keeps every delivery. Here an event stands once, its newest version, then by content; every
spelling of "nothing" is NULL and codes are upper case. Which event of a charge is the last word
is semantic.payments' business. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.payment_charges import payment_charges
from lakehouse_assets.raw.spelled import is_country, none_spelled
from lakehouse_assets.sources.payments.providers import CURRENCIES, PROVIDERS
from lakehouse_assets.staging.clean import (
    boolean,
    country,
    differs,
    lower,
    on_time,
    spells_nothing,
    text,
    texts,
    upper,
)

WORDS = (
    "event_id", "event_type", "provider", "charge_id", "customer_id", "currency", "status",
    "failure_code", "failure_message", "payment_method_id", "payment_method_type", "card_brand",
    "card_last4", "card_country", "billing_country", "billing_postal_code", "merchant_id",
    "merchant_name", "description", "metadata.order_id", "metadata.user_email",
    "metadata.subscription_id", "risk_level", "3ds_authenticated",
)  # fmt: skip
RENAMED = {"status": "provider_status"}
CLEANED = [
    RENAMED.get(name, name.split(".")[-1]) for name in WORDS if name != "3ds_authenticated"
]


class StgPaymentCharges(StagingTable):
    event_id = column("string", "The provider's event id.", key=True)
    event_type = column("string", "What happened, lower case.", nullable=True)
    provider = column("string", "Who sends it, upper case.", isin=PROVIDERS)
    charge_id = column("string", "The provider's id of the charge; survives retries.")
    customer_id = column("string", "The payer.", nullable=True)
    provider_amount = column("decimal(10,2)", "As it writes it: some in hundredths.", ge=0)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES), nullable=True)
    provider_status = column("string", "Its word for the outcome, lower case.", nullable=True)
    failure_code = column("string", "Why it failed.", nullable=True)
    failure_message = column("string", "The same for people.", nullable=True)
    payment_method_id = column("string", "The provider's id of the means.", nullable=True)
    payment_method_type = column("string", "card, wallet, …", nullable=True)
    card_brand = column("string", "visa, mastercard, …", nullable=True)
    card_last4 = column("string", "Last four digits.", nullable=True, pii=True)
    card_exp_month = column("int", "Month of expiry.", nullable=True)
    card_exp_year = column("int", "Year of expiry.", nullable=True)
    card_country = column("string", "ISO 3166 alpha-2; anything else became NULL.", nullable=True)
    billing_country = column("string", "The same, as typed at checkout.", nullable=True)
    billing_postal_code = column("string", "As typed at checkout.", nullable=True, pii=True)
    merchant_id = column("string", "Who is paid.", nullable=True)
    merchant_name = column("string", "Who is paid, for people.", nullable=True)
    description = column("string", "Free text.", nullable=True)
    order_id = column("string", "The shop's order.", nullable=True)
    user_email = column("string", "As typed at checkout.", nullable=True, pii=True)
    subscription_id = column("string", "The subscription that is charged.", nullable=True)
    risk_score = column("int", "0 to 100; anything else became NULL.", nullable=True)
    risk_level = column("string", "The provider's word for it, lower case.", nullable=True)
    is_3ds_authenticated = column("boolean", "Whether 3-D Secure was passed.", nullable=True)
    created_at = column("timestamp", "When the charge was made, UTC.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")
    is_dirty = column("boolean", "Whether anything had to be mended.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("event_id", "charge_id", "payment_method_id", "order_id"),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        *on_time("created_at", "updated_at"),
        # These three guard the cleaning above them: no record can break them, a change here can.
        Rule("null_spellings", none_spelled(*CLEANED), "nothing is spelled as text"),
        Rule(
            "country_codes",
            f"{is_country('card_country')} and {is_country('billing_country')}",
            "two capital letters, or nothing",
        ),
        Rule("currency_case", "currency = upper(currency)", "currencies are upper case"),
        Rule(
            "postal_codes_present",
            "billing_postal_code is not null",
            "a postal code was typed",
            threshold=0.25,
            refuses=False,
        ),
    )


def transform(charges: DataFrame) -> DataFrame:
    good = charges.where("_error is null")
    risk = F.expr("if(risk_score between 0 and 100, risk_score, null)")
    return good.select(
        text("event_id").alias("event_id"),
        lower("event_type").alias("event_type"),
        upper("provider").alias("provider"),
        text("charge_id").alias("charge_id"),
        text("customer_id").alias("customer_id"),
        F.col("amount").alias("provider_amount"),
        upper("currency").alias("currency"),
        lower("status").alias("provider_status"),
        *texts("failure_code", "failure_message", "payment_method_id"),
        *texts("payment_method_type", "card_brand", "card_last4"),
        "card_exp_month",
        "card_exp_year",
        country("card_country").alias("card_country"),
        country("billing_country").alias("billing_country"),
        *texts("billing_postal_code", "merchant_id", "merchant_name", "description"),
        text("metadata.order_id").alias("order_id"),
        text("metadata.user_email").alias("user_email"),
        text("metadata.subscription_id").alias("subscription_id"),
        risk.alias("risk_score"),
        lower("risk_level").alias("risk_level"),
        boolean("3ds_authenticated").alias("is_3ds_authenticated"),
        "created_at",
        "updated_at",
        (spells_nothing(*WORDS) | mended()).alias("is_dirty"),
        "arrived_at",
        F.expr(RECORD),
    )


def mended() -> Column:
    """What cleaning changed or dropped beside spelled nulls."""
    off_scale = F.coalesce(~F.col("risk_score").between(0, 100), F.lit(False))
    countries = [differs(c, country(c)) for c in ("card_country", "billing_country")]
    unposted = text("billing_postal_code").isNull()
    return (
        off_scale | countries[0] | countries[1] | differs("currency", upper("currency")) | unposted
    )


stg_payment_charges = table_asset(StgPaymentCharges, transform, charges=payment_charges)
