"""The vendors' side: bodies, signed headers, requests over a real connection."""

import json
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from lakehouse_assets import settings
from lakehouse_assets.bench import webhooks as bench
from lakehouse_assets.commands.readback import ends
from lakehouse_assets.sources.webhooks.signatures import (
    sign_hubspot,
    sign_hubspot_v1,
    sign_shopify,
    sign_stripe,
)
from lakehouse_assets.sources.webhooks.vendors import TOPICS

SHOPIFY, STRIPE, HUBSPOT = b"shopify-secret", b"whsec_stripe-secret", b"hubspot-secret"
PREVIOUS = b"whsec_stripe-previous"
SECRETS = {
    "SHOPIFY_WEBHOOK_SECRET": SHOPIFY.decode(), "STRIPE_WEBHOOK_SECRET": STRIPE.decode(),
    "STRIPE_WEBHOOK_SECRET_PREVIOUS": PREVIOUS.decode(), "HUBSPOT_WEBHOOK_SECRET": HUBSPOT.decode(),
}  # fmt: skip
JSON = {"Content-Type": "application/json"}
PATIENCE_S = 30

Headers = dict[str, str]


@dataclass
class Answer:
    status: int
    headers: Headers
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> tuple[int, str]:
        return self.status, self.said["error"]


@dataclass
class Request:
    """What a vendor sends; every test spoils something of it."""

    vendor: str
    body: bytes
    headers: Headers = field(default_factory=dict)

    def send(self, *more: tuple[str, str], chunked: bool = False) -> Answer:
        """`more`: further headers, of a name that may be there already."""
        connection = HTTPConnection("127.0.0.1", settings.port("webhooks"), timeout=PATIENCE_S)
        try:
            connection.putrequest("POST", f"/webhooks/{self.vendor}")
            for name, value in (*{**JSON, **self.headers}.items(), *more):
                connection.putheader(name, value)
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
                parts = (self.body[i : i + 50_000] for i in range(0, len(self.body), 50_000))
                connection.endheaders(parts, encode_chunked=True)
            else:
                connection.putheader("Content-Length", str(len(self.body)))
                connection.endheaders(self.body)
            return heard(connection)
        finally:
            connection.close()


def heard(connection: HTTPConnection) -> Answer:
    found = connection.getresponse()
    return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())


def get(path: str, method: str = "GET") -> Answer:
    connection = HTTPConnection("127.0.0.1", settings.port("webhooks"), timeout=PATIENCE_S)
    connection.request(method, path)
    try:
        return heard(connection)
    finally:
        connection.close()


def shopify(
    body: Any, webhook: str, topic: str = "orders/updated", secret: bytes = SHOPIFY
) -> Request:
    raw = _raw(body)
    return Request("shopify", raw, {
        "X-Shopify-Topic": topic, "X-Shopify-Webhook-Id": webhook,
        "X-Shopify-Hmac-Sha256": sign_shopify(raw, secret),
    })  # fmt: skip


def stripe(body: Any, secret: bytes = STRIPE, ahead_s: float = 0) -> Request:
    raw = _raw(body)
    signed = sign_stripe(raw, secret, int(time.time() + ahead_s))
    return Request("stripe", raw, {"Stripe-Signature": signed})


def hubspot(body: Any, secret: bytes = HUBSPOT, ahead_s: float = 0) -> Request:
    raw, stamp = _raw(body), str(int((time.time() + ahead_s) * 1000))
    uri = f"http://127.0.0.1:{settings.port('webhooks')}/webhooks/hubspot"
    return Request("hubspot", raw, {
        "X-HubSpot-Signature-v3": sign_hubspot("POST", uri, raw, secret, stamp),
        "X-HubSpot-Request-Timestamp": stamp,
    })  # fmt: skip


def hubspot_v1(body: Any, secret: bytes = HUBSPOT) -> Request:
    raw = _raw(body)
    signed = {"X-HubSpot-Signature": sign_hubspot_v1(raw, secret)}
    return Request("hubspot", raw, {**signed, "X-HubSpot-Signature-Version": "v1"})


def charge(event: str, kind: str = "charge.succeeded", thing: str = "ch_1") -> dict[str, Any]:
    return {"id": event, "type": kind, "data": {"object": {"id": thing}}}


def contact(event: int, **more: Any) -> dict[str, Any]:
    return {"eventId": event, "subscriptionType": "contact.creation", "objectId": 512, **more}


def _raw(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def in_kafka() -> int:
    """How many records the topics hold, together."""
    return sum(ends(TOPICS).values())


@dataclass
class Record:
    topic: str
    key: bytes
    value: bytes


def records(webhook: str) -> list[Record]:
    """Those of one event."""
    found = [Record(r.topic() or "", _bytes(r.key()), _bytes(r.value())) for r in bench.records()]
    return [r for r in found if json.loads(r.value)["_webhook_id"] == webhook]


def _bytes(given: Any) -> bytes:
    assert isinstance(given, bytes)
    return given


def until_kafka_is(state: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while (found := get("/health").said)["kafka"] != state:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
