"""What the tests of the truth share: single records, and what is told of them."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.webhooks.truth import Truth, delivered
from lakehouse_assets.sources.webhooks.truth import expected as told_by

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
ARRIVED = NOON + timedelta(days=30)
ORDER = {
    "id": 17, "order_number": 1001, "email": " Anna@Example.com", "total_price": "32.50",
    "subtotal_price": "25.00", "total_tax": "5.00", "total_discounts": "1.00", "currency": "eur",
    "total_shipping_price_set": {"shop_money": {"amount": "2.50", "currency_code": "EUR"}},
    "financial_status": "paid", "fulfillment_status": None, "customer": {"id": 5},
    "line_items": [{}, {}], "created_at": "2026-05-03T23:30:00-05:00",
    "shipping_address": {"city": "Köln", "province": "NRW", "country_code": "DE"},
    "billing_address": None, "updated_at": "2026-05-04T07:00:00-05:00",
}  # fmt: skip
PERSON = {
    "id": 5, "email": "anna@example.com", "phone": None, "first_name": "Anna", "last_name": "B",
    "currency": "EUR", "state": "enabled", "created_at": "2026-05-04T12:00:00Z",
    "updated_at": "2026-05-04T12:00:00Z", "default_address": {"country_code": "de", "city": ""},
}  # fmt: skip


def expected(events: Iterable[Event], **given: list[dict[str, Any]]) -> Truth:
    """Of events that arrive in this order, long after they were made."""
    return told_by(delivered(events, ARRIVED), **given)


def seen(row: dict[str, Any]) -> dict[str, Any]:
    """But for when it arrived."""
    return {name: value for name, value in row.items() if name != "arrived_at"}


def refund(**said: Any) -> Event:
    moved = {"kind": "refund", "status": "success", "amount": "10.00", "currency": "EUR"}
    whole = {"_vendor": "shopify", "id": 1, "order_id": 17, "created_at": "2026-05-04T12:00:00Z",
             "transactions": [moved]}  # fmt: skip
    return event("webhooks.other", "refunds/create", whole | said)


def charge(**said: Any) -> Event:
    thing = {"id": "ch_1", "customer": "cus_1", "amount": 1999, "currency": "eur",
             "status": "succeeded"}  # fmt: skip
    return stripe("charge.succeeded", 1_777_896_000, **thing | said)


def event(topic: str, kind: str, said: dict[str, Any]) -> Event:
    ours = {"_webhook_topic": kind, "_webhook_id": "w", "_received_at": "2026-05-04T12:00:00Z"}
    return Event(b"k", json.dumps(ours | said).encode(), topic, "clean")


def order(**said: Any) -> Event:
    return event("shopify.orders", "orders/updated", ORDER | said)


def person(kind: str = "customers/update", **said: Any) -> Event:
    return event("shopify.customers", kind, PERSON | said)


def hubspot(at: int, kind: str = "contact.propertyChange", **said: Any) -> Event:
    whole = {"objectId": 9, "occurredAt": 1_777_896_000_000 + at, "subscriptionType": kind}
    return event(f"hubspot.{'contacts' if 'contact' in kind else 'companies'}", kind, whole | said)


def stripe(kind: str, created: int, **said: Any) -> Event:
    thing = {"id": "cus_1", "created": 1_777_896_000, "email": "a@example.com", "name": "A B"}
    content = {"type": kind, "created": created, "data": {"object": thing | said}}
    family = "customers" if kind.startswith("customer") else "charges"
    return event(f"stripe.{family}", kind, content)
