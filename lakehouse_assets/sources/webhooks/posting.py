"""Sending webhooks to the door as their vendors do: signed at the moment of sending, and again
until they are taken.

Requests about one thing go out in order, one after the other; others beside them.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from zlib import crc32

from lakehouse_assets import settings
from lakehouse_assets.sources.asking import Line, Question
from lakehouse_assets.sources.produce import PACE_S, POLL_S, PROGRESS_S
from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.signatures import sign_hubspot, sign_shopify, sign_stripe

LANES = 8  # connections, each with one request under way
WAITING = 512  # requests that are handed over and not yet answered


def post(
    requests: Iterable[Request],
    secrets: Mapping[str, bytes],
    paced_from: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Send all requests and return how many; each has been answered with 200.

    `secrets` by vendor; without one the door says what is missing. `paced_from`: the instant that
    is now for the requests; else as fast as can be. `on_progress` hears the number answered so far,
    at most five times a second.
    """
    poster = _Poster(secrets)
    began = told = time.monotonic()
    ahead = paced_from.timestamp() - began if paced_from else 0
    try:
        for request in requests:
            if paced_from:
                poster.wait_until(request.made_ms / 1000 - ahead)
            poster.hand_over(request)
            if on_progress and (now := time.monotonic()) - told >= PROGRESS_S:
                on_progress(poster.answered)
                told = now
        poster.settle(0)
    finally:
        poster.close()
    if on_progress:
        on_progress(poster.answered)
    return poster.answered


class _Poster:
    """Hands each request to the lane of what it is about."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        lines = [Line("webhooks", "door for webhooks") for _ in range(LANES)]
        lines[0].require()
        self._lanes = [(line, ThreadPoolExecutor(1)) for line in lines]
        self._secrets = secrets
        self._known_as = settings.webhooks_url() or lines[0].place  # HubSpot signs the address
        self._under_way: deque[Future[None]] = deque()
        self.answered = 0

    def hand_over(self, request: Request) -> None:
        line, thread = self._lanes[crc32(request.about.encode()) % LANES]
        about = f"{request.vendor} {request.topic}, webhook {request.ids[0]}"
        self._under_way.append(thread.submit(line.tell, about, lambda: self._signed(request)))
        self.settle(WAITING)

    def settle(self, left: int) -> None:
        """Wait until no more than so many are under way; the first failure is raised."""
        while self._under_way and (len(self._under_way) > left or self._under_way[0].done()):
            self._under_way.popleft().result()
            self.answered += 1

    def wait_until(self, instant: float) -> None:
        while (left := instant - time.monotonic()) > PACE_S:
            self.settle(WAITING)
            time.sleep(min(left, POLL_S))

    def _signed(self, request: Request) -> Question:
        """As at the moment of sending: a signature grows old while one waits."""
        secret = self._secrets.get(request.vendor, b"")
        headers = signed(request, secret, self._known_as, time.time())
        return Question("POST", request.path, request.body, dict(request.headers) | headers)

    def close(self) -> None:
        """What has been begun is ended, what waits is dropped."""
        for line, thread in self._lanes:
            line.patience_s = 0
            thread.shutdown(cancel_futures=True)
            line.close()


def signed(request: Request, secret: bytes, known_as: str, now: float) -> dict[str, str]:
    """The headers that prove who sent it; `known_as`: the door's address for HubSpot."""
    body = request.body
    if request.vendor == "shopify":
        return {"X-Shopify-Hmac-Sha256": sign_shopify(body, secret)}
    if request.vendor == "stripe":
        return {"Stripe-Signature": sign_stripe(body, secret, int(now))}
    stamp = int(now * 1000)
    signature = sign_hubspot("POST", known_as + request.path, body, secret, stamp)
    return {"X-HubSpot-Signature-v3": signature, "X-HubSpot-Request-Timestamp": str(stamp)}
