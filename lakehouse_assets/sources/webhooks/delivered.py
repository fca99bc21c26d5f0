"""What Kafka holds after webhooks have come through the door, without door and Kafka."""

from collections.abc import Iterable, Iterator

from starlette.datastructures import Headers

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.vendors import VENDORS, Delivery


def records(requests: Iterable[Request]) -> Iterator[Event]:
    """One for each event of each request, received at the instant the request is made at; what the
    door would recognise as a re-delivery is a record, too.
    """
    vendors = {vendor.name: vendor for vendor in VENDORS}
    for request in requests:
        got = Delivery("POST", request.path, Headers(dict(request.headers)), request.body)
        for event in vendors[request.vendor].events(got, iso_ms(request.made_ms)):
            yield Event(
                event.key.encode(), event.value, event.topic, request.kind, request.made_ms
            )
