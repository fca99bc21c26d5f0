"""raw.stripe_customers: one row per record of the Kafka topic `stripe.customers`.

Stripe's events about customers, every delivery, re-deliveries too. The customer stays JSON text in
`data`. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import StripeTable


class StripeCustomers(StripeTable):
    layout = Layout(partitioned_by="ingest_hour")


stripe_customers = raw_table(StripeCustomers, topic="stripe.customers", group="webhooks")
