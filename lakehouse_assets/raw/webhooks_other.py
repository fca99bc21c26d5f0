"""raw.webhooks_other: one row per record of the Kafka topic `webhooks.other`.

Valid events of which no table of their own is made: refunds, disputes, payouts, products, deals,
whatever a vendor is asked to send. They are of any shape, so all columns are text, any other field
may be there, and the whole record is kept beside them. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import WebhookTable


class WebhooksOther(WebhookTable):
    _vendor = column("string", "Who sent it: shopify, stripe or hubspot.")
    id = column("string", "Stripe's id of the event, Shopify's of the thing it is about.")
    type = column("string", "Stripe: what happened.")
    created = column("string", "Stripe: when it happened, Unix seconds.")
    data = column("string", "Stripe, JSON: the object as it now is.", pii=True)
    order_id = column("string", "Shopify: the order it belongs to.")
    transactions = column("string", "Shopify, JSON: what was paid or paid back.", pii=True)
    created_at = column("string", "Shopify: when the thing was made, ISO 8601.")

    layout = Layout(partitioned_by="ingest_hour")
    also = None


webhooks_other = raw_table(WebhooksOther, topic="webhooks.other", group="webhooks")
