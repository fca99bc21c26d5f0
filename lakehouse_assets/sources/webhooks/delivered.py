"""What Kafka holds after webhooks have come through the door, without door and Kafka."""

from collections.abc import Iterable, Iterator

from starlette.datastructures import Headers

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.webhooks import vendors
from lakehouse_assets.sources.webhooks.request import Request


def once(requests: Iterable[Request]) -> Iterator[vendors.Event]:
    """One for each event that the door produces: what it recognises as a re-delivery it does not.
    """
    seen = set()
    for request in requests:
        for event in _events(request):
            if event.identity not in seen:
                seen.add(event.identity)
                yield event


def records(requests: Iterable[Request]) -> Iterator[Event]:
    """One for each event of each request, received at the instant the request is made at; what the
    door would recognise as a re-delivery is a record, too.
    """
    for request in requests:
        for event in _events(request):
            yield Event(
                event.key.encode(), event.value, event.topic, request.kind, request.made_ms
            )


def _events(request: Request) -> list[vendors.Event]:
    known = {vendor.name: vendor for vendor in vendors.VENDORS}
    got = vendors.Delivery("POST", request.path, Headers(dict(request.headers)), request.body)
    return known[request.vendor].events(got, iso_ms(request.made_ms))
