"""raw.payment_refunds: one row per record of the Kafka topic `payment_refunds`.

Refunds as their providers sent them: in part, in whole, some before their charge. Nothing is
cleaned and nothing is refused; the rules here measure how dirty the feed is.
"""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import is_one_of, is_there, one_content
from lakehouse_assets.sources.payments.providers import REFUND_REASONS


class PaymentRefunds(RawTable):
    event_id = column("string", "The provider's event id; a re-delivery repeats it.")
    event_type = column("string", "What happened, `refund.…`.")
    provider = column("string", "Stripe, Braintree or Adyen, in any case.")
    refund_id = column("string", "The provider's id of the refund.")
    charge_id = column("string", "The charge that is refunded; it may not have arrived yet.")
    customer_id = column("string", "Who gets the money back.")
    amount = column("decimal(10,2)", "As the provider writes it: some in hundredths.")
    currency = column("string", "ISO 4217, in any case.")
    status = column("string", "The provider's word for how far it is; often missing.")
    reason = column("string", "Why, as a support desk typed it.")
    failure_reason = column("string", "Why it failed.")
    merchant_id = column("string", "Who pays.")
    metadata = column(
        "struct<refund_requested_by:string,original_order_id:string,support_ticket_id:string>",
        "The shop's own references.",
    )
    created_at = column("timestamp", "When the refund was made, UTC; the same in all its events.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")

    layout = Layout(partitioned_by="ingest_hour", unique_text=("event_id", "refund_id"))
    rules = (
        Rule("status_present", is_there("status"), "a status was sent", threshold=0.1),
        Rule(
            "reason_vocabulary",
            is_one_of("reason", tuple(REFUND_REASONS)),
            "reasons are spelled as agreed",
            threshold=0.5,
        ),
        Rule(
            "support_ticket_present",
            is_there("metadata.support_ticket_id"),
            "a support ticket is named",
            threshold=0.5,
        ),
    )
    across = (one_content("payment_refunds"),)


payment_refunds = raw_table(PaymentRefunds, topic="payment_refunds", group="payments")
