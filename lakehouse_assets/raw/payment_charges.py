"""raw.payment_charges: one row per record of the Kafka topic `payment_charges`.

Charges of several providers as they were sent, with every kind of dirt; nothing is cleaned and
nothing is refused. The rules here measure how dirty the feed is; what is done about it is
staging's business.
"""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import is_country, is_there, none_spelled, one_content

SPELLED = (
    "customer_id", "currency", "failure_code", "failure_message", "card_brand", "card_country",
    "billing_country", "billing_postal_code", "description", "risk_level",
    "metadata.subscription_id",
)  # fmt: skip


class PaymentCharges(RawTable):
    event_id = column("string", "The provider's event id; a re-delivery repeats it.")
    event_type = column("string", "What happened, `charge.…`.")
    provider = column("string", "Stripe, Braintree or Adyen, in any case.")
    charge_id = column("string", "The provider's id of the charge; survives retries.")
    customer_id = column("string", "The payer.")
    amount = column("decimal(10,2)", "As the provider writes it: some in hundredths.")
    currency = column("string", "ISO 4217, in any case.")
    status = column("string", "The provider's word for the outcome.")
    failure_code = column("string", "Why it failed; `null` in several spellings.")
    failure_message = column("string", "The same for people.")
    payment_method_id = column("string", "The provider's id of the means of payment.")
    payment_method_type = column("string", "card, wallet, …")
    card_brand = column("string", "visa, mastercard, …")
    card_last4 = column("string", "Last four digits; the number itself is never sent.", pii=True)
    card_exp_month = column("int", "Month of expiry, 1 to 12.")
    card_exp_year = column("int", "Year of expiry, four digits.")
    card_country = column("string", "Of the issuer: ISO 3166 alpha-2, or rubbish like `342`.")
    billing_country = column("string", "As typed at checkout.")
    billing_postal_code = column("string", "As typed at checkout; often missing.", pii=True)
    merchant_id = column("string", "Who is paid.")
    merchant_name = column("string", "Who is paid, for people.")
    description = column("string", "Free text.")
    metadata = column(
        "struct<order_id:string,user_email:string,subscription_id:string>",
        "The shop's own references; the e-mail as typed at checkout.",
        pii=True,
    )
    risk_score = column("int", "The provider's estimate, 0 to 100.")
    risk_level = column("string", "The provider's word for it.")
    authenticated_3ds = column(
        "string", "Whether 3-D Secure was passed, in many words.", name="3ds_authenticated"
    )
    created_at = column("timestamp", "When the charge was made, UTC; the same in all its events.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")

    layout = Layout(
        partitioned_by="ingest_hour",
        unique_text=("event_id", "charge_id", "payment_method_id"),
    )
    rules = (
        Rule(
            "null_spellings",
            none_spelled(*SPELLED),
            "nothing is spelled as text",
            threshold=0.25,
        ),
        Rule(
            "country_codes",
            f"{is_country('card_country')} and {is_country('billing_country')}",
            "countries are two capital letters",
            threshold=0.1,
        ),
        Rule(
            "postal_codes_present",
            is_there("billing_postal_code"),
            "a postal code was typed",
            threshold=0.25,
        ),
        Rule(
            "currency_case",
            "currency = upper(currency)",
            "currencies are upper case",
            threshold=0.25,
        ),
    )
    across = (one_content("payment_charges"),)


payment_charges = raw_table(PaymentCharges, topic="payment_charges", group="payments")
