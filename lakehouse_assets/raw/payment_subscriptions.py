"""raw.payment_subscriptions: one row per record of the Kafka topic `payment_subscriptions`.

What happened to subscriptions, as the providers sent it. Nothing is cleaned and nothing is refused;
the rules here measure how dirty the feed is.
"""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import is_one_of, is_there, one_content
from lakehouse_assets.sources.payments.providers import INTERVALS


class PaymentSubscriptions(RawTable):
    event_id = column("string", "The provider's event id; a re-delivery repeats it.")
    event_type = column("string", "subscription.created, .updated or .canceled.")
    provider = column("string", "Stripe, Braintree or Adyen, in any case.")
    subscription_id = column("string", "The provider's id of the subscription.")
    customer_id = column("string", "Who subscribes.")
    merchant_id = column("string", "Who is paid.")
    status = column("string", "trialing, active, past_due or canceled.")
    plan_id = column("string", "What is subscribed to.")
    plan_name = column("string", "The same for people.")
    plan_interval = column("string", "How often it is paid, in many spellings.")
    plan_amount = column("decimal(10,2)", "Price, as the provider writes it.")
    plan_currency = column("string", "ISO 4217, in any case.")
    trial_start_at = column("timestamp", "Begin of the trial, UTC; often missing.")
    trial_end_at = column("timestamp", "Its end, UTC; often missing.")
    discount_percent = column("int", "Of the price, 0 to 100.")
    coupon_code = column("string", "Of which campaign.")
    promo_code = column("string", "As the customer typed it; often missing.")
    canceled_at = column("timestamp", "When it was canceled, UTC.")
    created_at = column("timestamp", "When it began, UTC; the same in all its events.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")

    layout = Layout(partitioned_by="ingest_hour", unique_text=("event_id",))
    rules = (
        Rule(
            "trial_dates_present",
            "lower(trim(status)) != 'trialing' "
            "or (trial_start_at is not null and trial_end_at is not null)",
            "a trial has a begin and an end",
            threshold=0.1,
        ),
        Rule(
            "promo_codes_present",
            f"discount_percent is null or {is_there('promo_code')}",
            "a discount has a promo code",
            threshold=0.1,
        ),
        Rule(
            "interval_vocabulary",
            is_one_of("plan_interval", tuple(INTERVALS)),
            "intervals are spelled as agreed",
            threshold=0.5,
        ),
    )
    across = (one_content("payment_subscriptions"),)


payment_subscriptions = raw_table(
    PaymentSubscriptions, topic="payment_subscriptions", group="payments"
)
