"""raw.payment_disputes: one row per record of the Kafka topic `payment_disputes`.

Chargebacks and their warnings as the providers sent them, in whatever order. Nothing is cleaned and
nothing is refused; the rules here measure how dirty the feed is.
"""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import is_there, one_content


class PaymentDisputes(RawTable):
    event_id = column("string", "The provider's event id; a re-delivery repeats it.")
    event_type = column("string", "What happened, `dispute.…`.")
    provider = column("string", "Stripe, Braintree or Adyen, in any case.")
    dispute_id = column("string", "The provider's id of the dispute.")
    charge_id = column("string", "The charge that is disputed; it may be unknown.")
    customer_id = column("string", "Who disputes it.")
    merchant_id = column("string", "Who answers.")
    amount = column("decimal(10,2)", "As the provider writes it: some in hundredths.")
    currency = column("string", "ISO 4217, in any case; often missing.")
    status = column("string", "The provider's word for how far it is.")
    network_reason_code = column("string", "The card network's code for the reason.")
    reason = column("string", "The provider's word for it.")
    case_number = column("string", "`CB-year-number`, or a part of it.")
    evidence = column(
        "struct<customer_communication:string,receipt_id:string,"
        "metadata:struct<submitted_by:string,document_count:int>>",
        "What the merchant handed in, letters to the customer among it.",
        pii=True,
    )
    evidence_due_at = column("timestamp", "Until when evidence may be handed in, UTC.")
    created_at = column("timestamp", "When it was opened, UTC; the same in all its events.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")

    layout = Layout(partitioned_by="ingest_hour", unique_text=("event_id", "dispute_id"))
    rules = (
        Rule(
            "evidence_metadata_present",
            is_there("evidence.metadata.submitted_by"),
            "evidence says who handed it in",
            threshold=0.2,
        ),
        Rule("currency_present", is_there("currency"), "a currency was sent", threshold=0.1),
        Rule(
            "case_numbers_whole",
            r"_error is not null or coalesce(case_number rlike '^CB-[0-9]{4}-[0-9]{6}\\z', false)",
            "case numbers are complete",
            threshold=0.2,
        ),
    )
    across = (one_content("payment_disputes"),)


payment_disputes = raw_table(PaymentDisputes, topic="payment_disputes", group="payments")
