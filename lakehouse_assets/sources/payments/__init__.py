"""Card payments of Stripe, Braintree and Adyen, with the dirt that such feeds have.

Six topics: charges, refunds, disputes and subscriptions, each event with an id of its own and a
growing `updated_at`; and what is known of customers and merchants, keyed. Events are a function of
the arguments alone: no clock, no Kafka, the same bytes every time. What every table must hold after
them is told by `truth`.
"""

from datetime import datetime, timezone

from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.record import CHARGES as CHARGE
from lakehouse_assets.sources.payments.together import (
    FEED_OF,
    INTERVAL,
    TOPICS,
    charges,
    distinct_charges,
    payments,
)

__all__ = [
    "CHARGES", "EVERY", "FEEDS", "FIRST_DAY", "INTERVAL", "TOPICS", "Dirt", "charges",
    "distinct_charges", "payments",
]  # fmt: skip

CHARGES = CHARGE.topic
FEEDS = {topic.removeprefix("payment_"): topic for topic in TOPICS}  # as one types them
EVERY = {name: FEED_OF[topic].every for name, topic in FEEDS.items()}
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
