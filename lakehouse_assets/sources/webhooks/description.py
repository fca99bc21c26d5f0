"""The API's OpenAPI text: what is sent, in which headers, and every answer there is."""

from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_LATEST

from lakehouse_assets.sources.webhooks.vendors import Vendor

TEXT = {"type": "string"}
REFUSAL = {
    "type": "object", "required": ["error", "message"], "additionalProperties": False,
    "properties": {"error": TEXT, "message": TEXT},
}  # fmt: skip
ACCEPTED = {
    "type": "object", "required": ["received", "recognised"], "additionalProperties": False,
    "properties": {"received": {"type": "integer"}, "recognised": {"type": "integer"}},
}  # fmt: skip
WELL = {
    "type": "object", "required": ["status", "kafka", "secrets_missing"],
    "properties": {
        "status": TEXT, "kafka": {"enum": ["up", "away"]},
        "secrets_missing": {"type": "array", "items": TEXT},
    },
}  # fmt: skip
REASONS = {
    400: "No event of this vendor's: invalid UTF-8 or JSON, too deep, not its shape.",
    401: "The signature is missing, malformed, stale, early, or not of this body.",
    408: "The request was not here in time.",
    413: "The body is too large.",
    415: "Not application/json in UTF-8, or compressed.",
    429: "Too many requests from this address; Retry-After says when.",
    431: "The head is too large.",
    503: "Kafka is away, the door is full, or it has no secret; Retry-After says when.",
}
OBJECT: dict[str, Any] = {"type": "object"}
SHAPES = {
    "shopify": OBJECT | {"properties": {"id": {"type": "integer"}}},
    "stripe": OBJECT | {
        "required": ["id", "type", "data"],
        "properties": {"id": TEXT, "type": TEXT, "data": OBJECT},
    },
    "hubspot": {"type": "array", "items": OBJECT | {
        "required": ["eventId", "subscriptionType"],
        "properties": {"eventId": {"type": "integer"}, "subscriptionType": TEXT},
    }},
}  # fmt: skip
HEADERS = {
    "shopify": {
        "X-Shopify-Hmac-Sha256": "Base64 of the body's HMAC-SHA256.",
        "X-Shopify-Topic": "e.g. orders/updated.",
        "X-Shopify-Webhook-Id": "The delivery's id; a re-delivery repeats it.",
    },
    "stripe": {"Stripe-Signature": "t=<seconds>,v1=<hex HMAC-SHA256 of t.body>"},
    "hubspot": {
        "X-HubSpot-Signature-v3": "Base64 HMAC-SHA256 of method, URI, body and timestamp.",
        "X-HubSpot-Request-Timestamp": "Milliseconds since 1970.",
    },
}


def described(vendor: Vendor) -> dict[str, Any]:
    return {
        "requestBody": {"required": True, "content": _json(SHAPES[vendor.name])},
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": TEXT, "description": told}
            for name, told in HEADERS[vendor.name].items()
        ],
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "In Kafka, acknowledged.", "content": _json(ACCEPTED)},
    **{status: {"description": why, "content": _json(REFUSAL)} for status, why in REASONS.items()},
}
HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"description": "This process works.", "content": _json(WELL)}
}
METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus's text.", "content": {CONTENT_TYPE_LATEST: {"schema": TEXT}}}
}
