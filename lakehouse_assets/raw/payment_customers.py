"""raw.payment_customers: one row per record of the Kafka topic `payment_customers`.

What is known of customers, each record the whole of it as of `updated_at`; a null value deletes the
customer of its key. All records are kept, because charges are enriched with what was true then.
"""

from lakehouse_assets.lake.bases import KeyedTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import none_spelled


class PaymentCustomers(KeyedTable):
    customer_id = column("string", "The customer; the record's key too.")
    customer_name = column("string", "Full name.", pii=True, name="name")
    email = column("string", "Where to write to.", pii=True)
    country = column("string", "ISO 3166 alpha-2, or rubbish.")
    segment = column("string", "consumer, small_business or enterprise.")
    signed_up_at = column("timestamp", "Since when they are a customer, UTC.")
    updated_at = column("timestamp", "Since when this is so, UTC.")

    layout = Layout(partitioned_by="ingest_hour")
    rules = (
        Rule(
            "null_spellings",
            none_spelled("name", "email", "country", "segment"),
            "nothing is spelled as text",
            threshold=0.25,
        ),
    )


payment_customers = raw_table(PaymentCustomers, topic="payment_customers", group="payments")
