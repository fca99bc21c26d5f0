"""raw.stripe_charges: one row per record of the Kafka topic `stripe.charges`.

Stripe's events about charges, every delivery, re-deliveries too. The charge itself stays JSON text
in `data`. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import StripeTable


class StripeCharges(StripeTable):
    layout = Layout(partitioned_by="ingest_hour")


stripe_charges = raw_table(StripeCharges, topic="stripe.charges", group="webhooks")
