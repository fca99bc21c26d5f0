"""From a vendor's request to its answer: who may enter, what was sent, is it in Kafka.

200 says that Kafka has acknowledged every event of the request, now or in an earlier delivery of
it. Anything else makes the vendor send it again: 4xx where the request itself is at fault, 503 with
Retry-After where we are. A door without the vendor's secret also answers 503. It is not the
vendor's fault (401 would say so), and events are kept until somebody sets the secret: Shopify tries
for four hours, HubSpot for a day, Stripe for three.
"""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone

import orjson
from starlette.requests import Request
from starlette.responses import Response

from lakehouse_assets import settings
from lakehouse_assets.sources.webhooks.limits import Incoming, Rates, Room, check_head
from lakehouse_assets.sources.webhooks.metrics import Metrics
from lakehouse_assets.sources.webhooks.recent import Recent
from lakehouse_assets.sources.webhooks.refusal import Refused, later
from lakehouse_assets.sources.webhooks.sending import DELIVERY_S, NotSent, Sender
from lakehouse_assets.sources.webhooks.vendors import TOPICS, VENDORS, Delivery, Event, Vendor

KAFKA_RETRY_S, SECRET_RETRY_S = 5, 60
ANSWERED_S = DELIVERY_S + 1  # by then librdkafka has told of each record, unless it is broken


class Door:
    """One for a process; `open` binds it to the running event loop."""

    def __init__(self) -> None:
        self.secrets = {v.name: settings.webhook_secrets(v.secret) for v in VENDORS}
        self.recent, self.room = Recent(), Room()
        self.rates = Rates(settings.webhooks_per_s())
        self.metrics = Metrics()
        self.sender: Sender
        self._url = settings.webhooks_url()

    async def open(self) -> None:
        self.sender = Sender(TOPICS)
        self._looking = asyncio.create_task(self.sender.look())
        self.metrics.watch(self.room, self.recent, self.sender)

    async def close(self) -> None:
        self._looking.cancel()
        await self.sender.close()

    async def answer(self, vendor: Vendor, request: Request) -> Response:
        began, incoming = time.perf_counter(), Incoming(request)
        try:
            with self.room.place():
                sent, known = await self._take(vendor, request, incoming)
            status, code, headers = 200, "accepted", {}
            body = orjson.dumps({"received": sent + known, "recognised": known})
        except Refused as refused:
            status, code, headers = refused.status, refused.code, refused.headers
            body = refused.body()
            with suppress(Refused):  # it hung up: there is nobody to answer
                await incoming.drain()
        self.metrics.answered(vendor.name, code, time.perf_counter() - began)
        return Response(body, status, headers, media_type="application/json")

    async def _take(
        self, vendor: Vendor, request: Request, incoming: Incoming
    ) -> tuple[int, int]:
        """How many events were sent, and how many are in Kafka already."""
        secrets = self.secrets[vendor.name]
        if not secrets:
            raise later(
                503, "no_secret", f"Set {vendor.secret} and start the door again: without it"
                " nobody can be told from a forger.", SECRET_RETRY_S,
            )  # fmt: skip
        self.rates.take(request.client.host if request.client else "")
        check_head(request)
        address = self._address(request)
        got = Delivery(request.method, address, request.headers, await incoming.read())
        vendor.verify(got, secrets, time.time())
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return await self._deliver(vendor, vendor.events(got, at))

    async def _deliver(self, vendor: Vendor, events: Iterable[Event]) -> tuple[int, int]:
        waits: set[asyncio.Future[None]] = set()
        sent = known = 0
        for event in events:
            wait = self.recent.under_way(event.identity)
            if wait is not None or self.recent.knows(event.identity):
                known += 1
            else:
                wait = self.sender.send(event.topic, event.key, event.value)
                self.recent.begin(event.identity, wait)
                self.metrics.sent(event.topic, wait)
                sent += 1
            if wait is not None:
                waits.add(wait)
        self.metrics.recognised(vendor.name, known)
        if waits:
            # not gather: who hangs up must not cancel what others await
            await asyncio.wait(waits, timeout=ANSWERED_S)
        for wait in waits:
            failure = wait.exception() if wait.done() else NotSent("it has not told in time")
            if isinstance(failure, NotSent):
                raise later(
                    503, "kafka_away", "Kafka has not acknowledged it: send it again.",
                    KAFKA_RETRY_S,
                ) from failure  # fmt: skip
        return sent, known

    def _address(self, request: Request) -> str:
        """As the vendor knows it, which HubSpot signs; behind a proxy only the setting knows."""
        scope = request.scope
        base = self._url or f"{scope['scheme']}://{request.headers.get('host', '')}"
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        return f"{base}{scope['raw_path'].decode('latin-1')}{query}"
