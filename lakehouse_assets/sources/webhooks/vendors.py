"""What each vendor's request is: how it is verified, which events it holds, where they go.

Shopify signs the body alone. Its headers (which topic, which delivery) are believed because there
is no means to check them; what protects them is the vendor's TLS up to the proxy.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from lakehouse_assets.sources.webhooks import signatures
from lakehouse_assets.sources.webhooks.records import an_object, objects, parsed, record
from lakehouse_assets.sources.webhooks.refusal import Refused

SHOPIFY_ORDERS, SHOPIFY_CUSTOMERS = "shopify.orders", "shopify.customers"
STRIPE_CHARGES, STRIPE_CUSTOMERS = "stripe.charges", "stripe.customers"
HUBSPOT_CONTACTS, HUBSPOT_COMPANIES = "hubspot.contacts", "hubspot.companies"
OTHER = "webhooks.other"
TOPICS = (
    SHOPIFY_ORDERS, SHOPIFY_CUSTOMERS, STRIPE_CHARGES, STRIPE_CUSTOMERS, HUBSPOT_CONTACTS,
    HUBSPOT_COMPANIES, OTHER,
)  # fmt: skip

# Those whose body is the order or the customer (of a merge: the two). Others of the same family,
# `orders/edited` or `customers/redact`, send something else.
SHOPIFY_ROUTES = {
    f"{family}/{what}": topic
    for family, topic, kinds in (
        ("orders", SHOPIFY_ORDERS,
         "create updated paid partially_fulfilled fulfilled cancelled delete"),
        ("customers", SHOPIFY_CUSTOMERS, "create update delete enable disable merge"),
    )
    for what in kinds.split()
}  # fmt: skip
# `charge.refunded` is about a charge, `charge.dispute.created` about a dispute.
STRIPE_ROUTES = {"charge": STRIPE_CHARGES, "customer": STRIPE_CUSTOMERS}
HUBSPOT_ROUTES = {"contact": HUBSPOT_CONTACTS, "company": HUBSPOT_COMPANIES}
HUBSPOT_OBJECTS = {"0-1": "contact", "0-2": "company"}  # objectTypeId where the type is `object.…`
KIND = re.compile(r"[a-z0-9_.-]+(/[a-z0-9_.-]+)*")
WORD = re.compile(r"[\x21-\x7e]+")
MAX_WORD = 200  # characters of an id or a kind


@dataclass(frozen=True)
class Delivery:
    """A request whose body has been read. `uri` is the address as the vendor knows it."""

    method: str
    uri: str
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """What stands in it, or nothing; of two nobody knows which one was meant."""
        found = self.headers.getlist(name)
        if len(found) > 1:
            raise Refused(400, "header_repeated", f"There is more than one {name} header.")
        return found[0] if found else ""


@dataclass(frozen=True)
class Event:
    """One record for Kafka. `identity` is the same in a re-delivery, and in no other event."""

    topic: str
    key: str
    value: bytes
    identity: tuple[str, ...]


@dataclass(frozen=True)
class Vendor:
    """`secret` names the environment variable; a second, `<secret>_PREVIOUS`, is valid beside."""

    name: str
    secret: str
    verify: Callable[[Delivery, signatures.Secrets, float], None]
    events: Callable[[Delivery, str], list[Event]]  # the string: when it was received


def _verify_shopify(got: Delivery, secrets: signatures.Secrets, now: float) -> None:
    signatures.verify_shopify(got.body, _shopify(got, "Hmac-Sha256"), secrets)


def _verify_stripe(got: Delivery, secrets: signatures.Secrets, now: float) -> None:
    signatures.verify_stripe(got.body, got.header("Stripe-Signature"), secrets, now)


def _verify_hubspot(got: Delivery, secrets: signatures.Secrets, now: float) -> None:
    """Version 1 only where there is no version 3: who sends both is judged by the better one."""
    signature = got.header("X-HubSpot-Signature-v3")
    if not signature and got.header("X-HubSpot-Signature-Version") == "v1":
        old = got.header("X-HubSpot-Signature")
        return signatures.verify_hubspot_v1(got.body, old, secrets)
    stamp = got.header("X-HubSpot-Request-Timestamp")
    return signatures.verify_hubspot(
        got.method, got.uri, got.body, signature, stamp, secrets, now
    )


def _shopify(got: Delivery, name: str) -> str:
    """Newer subscriptions send their headers without the X."""
    return got.header(f"X-Shopify-{name}") or got.header(f"Shopify-{name}")


def _shopify_events(got: Delivery, at: str) -> list[Event]:
    kind, delivery = _shopify(got, "Topic"), _shopify(got, "Webhook-Id")
    if len(kind) > MAX_WORD or not KIND.fullmatch(kind):
        raise _not_an_event("X-Shopify-Topic names no topic such as orders/updated")
    if not _word(delivery):
        raise _not_an_event("X-Shopify-Webhook-Id is missing or too long")
    body = an_object(parsed(got.body))
    kept = _id(body.get("admin_graphql_api_customer_kept_id")).rpartition("/")[2]  # of a merge
    key = _id(body.get("id")) or kept or delivery
    topic = SHOPIFY_ROUTES.get(kind, OTHER)
    return [_event("shopify", topic, kind, delivery, at, key, got.body, ("shopify", delivery))]


def _stripe_events(got: Delivery, at: str) -> list[Event]:
    body = an_object(parsed(got.body))
    kind, event = _word(body.get("type")), _word(body.get("id"))
    if not (kind and event):
        raise _not_an_event("the object has no type and id as Stripe's events have")
    family, _, what = kind.partition(".")
    topic = OTHER if "." in what else STRIPE_ROUTES.get(family, OTHER)
    data = body.get("data")
    thing = data.get("object") if isinstance(data, dict) else None
    key = (_id(thing.get("id")) if isinstance(thing, dict) else "") or event
    return [_event("stripe", topic, kind, event, at, key, got.body, ("stripe", event))]


def _hubspot_events(got: Delivery, at: str) -> list[Event]:
    return [_hubspot_event(one, raw, at) for one, raw in objects(parsed(got.body), got.body)]


def _hubspot_event(found: dict[str, Any], raw: bytes, at: str) -> Event:
    kind, event = _word(found.get("subscriptionType")), _id(found.get("eventId"))
    if not (kind and event):
        raise _not_an_event("an element has no subscriptionType and eventId as HubSpot's have")
    family = kind.partition(".")[0]
    if family == "object":
        family = HUBSPOT_OBJECTS.get(str(found.get("objectTypeId")), "")
    topic = HUBSPOT_ROUTES.get(family, OTHER)
    # HubSpot does not promise that an eventId is unique: the rest must be the same, too.
    same = {name: value for name, value in found.items() if name != "attemptNumber"}
    content = hashlib.blake2b(json.dumps(same, sort_keys=True).encode(), digest_size=16)
    identity = ("hubspot", event, content.hexdigest())
    key = _id(found.get("objectId")) or event
    return _event("hubspot", topic, kind, event, at, key, raw, identity)


def _event(
    vendor: str, topic: str, kind: str, event: str, at: str, key: str, raw: bytes,
    identity: tuple[str, ...],
) -> Event:  # fmt: skip
    fields = {"_webhook_topic": kind, "_webhook_id": event, "_received_at": at}
    if topic == OTHER:
        fields = {"_vendor": vendor, **fields}
    return Event(topic, key, record(fields, raw), identity)


def _id(value: Any) -> str:
    """The id of something, a number or a word; '' for what is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _word(value)


def _word(value: Any) -> str:
    """A text without spaces that is not too long; '' for anything else."""
    is_one = isinstance(value, str) and len(value) <= MAX_WORD and WORD.fullmatch(value)
    return value if is_one else ""


def _not_an_event(why: str) -> Refused:
    return Refused(400, "not_an_event", f"Signed, but {why}.")


VENDORS = (
    Vendor("shopify", "SHOPIFY_WEBHOOK_SECRET", _verify_shopify, _shopify_events),
    Vendor("stripe", "STRIPE_WEBHOOK_SECRET", _verify_stripe, _stripe_events),
    Vendor("hubspot", "HUBSPOT_WEBHOOK_SECRET", _verify_hubspot, _hubspot_events),
)
