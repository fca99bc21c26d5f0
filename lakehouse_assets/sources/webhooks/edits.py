"""What each kind of dirt does to a request that was good."""

import json
from collections.abc import Callable

from lakehouse_assets.sources.webhooks.request import Json, Request, text

STRIPE_THINGS = ("charge", "customer")
NO_LISTS: tuple[object, ...] = ("none", {}, None, 3)


def edited(kind: str, request: Request, turn: int) -> Request | None:
    """With dirt of this kind, its variants in turn; None: it does not suit this request."""
    content = json.loads(request.body)
    if not EDITS[kind](request, content, turn):
        return None
    return request._replace(body=text(content), kind=kind)


def again(request: Request) -> Request:
    """The vendor has had no answer: HubSpot counts, the others send the same once more."""
    if request.vendor != "hubspot":
        return request._replace(kind="redelivery")
    events = json.loads(request.body)
    for event in events:
        event["attemptNumber"] += 1
    return request._replace(body=text(events), kind="redelivery")


def _unknown_field(request: Request, content: Json | list[Json], turn: int) -> bool:
    thing = content[0] if isinstance(content, list) else content
    thing["beta_feature"] = {"enabled": True, "since": turn}
    return True


def _is_order(request: Request) -> bool:
    return request.topic.startswith("orders/")


def _off_total(request: Request, content: Json, turn: int) -> bool:
    if not _is_order(request):
        return False
    cents = int(content["total_price"].replace(".", "")) + 2 + turn % 8
    content["total_price"] = f"{cents // 100}.{cents % 100:02}"
    return True


def _no_list(request: Request, content: Json, turn: int) -> bool:
    if not _is_order(request):
        return False
    content["line_items"] = NO_LISTS[turn % len(NO_LISTS)]
    return True


def _malformed(request: Request, content: Json | list[Json], turn: int) -> bool:
    if isinstance(content, list):
        content[-1]["occurredAt"] = "yesterday"
        return True
    if request.vendor == "stripe":
        if content["data"]["object"]["object"] not in STRIPE_THINGS:
            return False
        content["created"] = "soon"
        return True
    if "updated_at" not in content or request.topic.startswith("products/"):
        return False
    name, value = (("updated_at", "yesterday"), ("total_price", "12,50"), ("currency", "EURO"))[
        turn % 3 if _is_order(request) else 0
    ]
    content[name] = value
    return True


EDITS: dict[str, Callable[..., bool]] = {
    "unknown_field": _unknown_field,
    "off_total": _off_total,
    "no_list": _no_list,
    "malformed": _malformed,
}
