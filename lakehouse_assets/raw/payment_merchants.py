"""raw.payment_merchants: one row per record of the Kafka topic `payment_merchants`.

What is known of merchants, each record the whole of it as of `updated_at`; a null value deletes the
merchant of its key. All records are kept, because charges are enriched with what was true then.
"""

from lakehouse_assets.lake.bases import KeyedTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.spelled import none_spelled


class PaymentMerchants(KeyedTable):
    merchant_id = column("string", "The merchant; the record's key too.")
    merchant_name = column("string", "As customers know it.", name="name")
    category = column("string", "What it sells.")
    country = column("string", "ISO 3166 alpha-2, or rubbish.")
    onboarded_at = column("timestamp", "Since when it is a merchant, UTC.")
    updated_at = column("timestamp", "Since when this is so, UTC.")

    layout = Layout(partitioned_by="ingest_hour")
    rules = (
        Rule(
            "null_spellings",
            none_spelled("name", "category", "country"),
            "nothing is spelled as text",
            threshold=0.25,
        ),
    )


payment_merchants = raw_table(PaymentMerchants, topic="payment_merchants", group="payments")
