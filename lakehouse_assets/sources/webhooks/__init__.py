"""Shopify, Stripe and HubSpot: what they send over HTTP, and the door that lets it into Kafka.

The door (`app`, run as the service `webhooks`) verifies, recognises and forwards; it reads no table
and changes no event. A record of Kafka is the vendor's JSON object, byte by byte, behind three
fields of ours, see `records`.

The simulator makes what the vendors send about people whom two or three of them know: `feed` makes
requests, a function of its arguments alone; `posting` signs and sends them; `delivered` makes the
records that they become. Who is who, and what staging must hold, is told by `truth`.
"""

from datetime import datetime, timezone

from lakehouse_assets.sources.webhooks.dirt import Dirt
from lakehouse_assets.sources.webhooks.feed import EVERY, INTERVAL, people_of, requests
from lakehouse_assets.sources.webhooks.people import Traps, identities
from lakehouse_assets.sources.webhooks.request import VENDORS, Request

__all__ = [
    "EVERY", "FEEDS", "FIRST_DAY", "INTERVAL", "Dirt", "Request", "Traps", "identities",
    "people_of", "requests",
]  # fmt: skip

FEEDS = {vendor: vendor for vendor in VENDORS}  # as one types them
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
