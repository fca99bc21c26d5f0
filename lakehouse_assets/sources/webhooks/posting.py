"""Sending webhooks to the door as their vendors do: signed at the moment of sending, and again
until they are taken.

Requests about one thing go out in order, one after the other; others beside them. A vendor would
try for hours and then give up silently; this one is bounded in minutes and loud.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from zlib import crc32

from lakehouse_assets import settings
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.produce import PACE_S, POLL_S, PROGRESS_S
from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.signatures import sign_hubspot, sign_shopify, sign_stripe

HOST = "127.0.0.1"
LANES = 8  # connections, each with one request under way
WAITING = 512  # requests that are handed over and not yet answered
ANSWER_S = 20
PATIENCE_S = 120  # with one request, over all its attempts
AGAIN_S = 1.0  # before the next attempt where no Retry-After says it
MAX_AGAIN_S = 60.0  # a Retry-After may ask for no more
LATER = (429, 503)


class PostError(NotTakenError):
    """The door did not take a request; the message says which, why and what to do."""


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
        _Lane(secrets).require_door()
        self._lanes = [(_Lane(secrets), ThreadPoolExecutor(1)) for _ in range(LANES)]
        self._under_way: deque[Future[None]] = deque()
        self.answered = 0

    def hand_over(self, request: Request) -> None:
        lane, thread = self._lanes[crc32(request.about.encode()) % LANES]
        self._under_way.append(thread.submit(lane.post, request))
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

    def close(self) -> None:
        """What has been begun is ended, what waits is dropped."""
        for lane, thread in self._lanes:
            lane.patience_s = 0
            thread.shutdown(cancel_futures=True)
            lane.close()


class _Lane:
    """One connection to the door that is kept open."""

    patience_s: float = PATIENCE_S

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._secrets = secrets
        self._port = settings.port("webhooks")
        self.place = f"http://{HOST}:{self._port}"
        self._known_as = settings.webhooks_url() or self.place  # HubSpot signs the address
        self._connection = HTTPConnection(HOST, self._port, timeout=ANSWER_S)

    def require_door(self) -> None:
        try:
            self._connection.request("GET", "/health")
            self._connection.getresponse().read()
        except (OSError, HTTPException) as failure:
            raise PostError(
                f"No door for webhooks answers at {self.place}: {failure}. Start it with"
                " `lakehouse up webhooks --no-generate`"
            ) from None
        finally:
            self.close()

    def post(self, request: Request) -> None:
        began, problem = time.monotonic(), ""
        while True:
            wait_s = AGAIN_S
            try:
                status, problem, wait_s = self._attempt(request)
                if status == 200:
                    return
            except (OSError, HTTPException) as failure:
                self.close()
                status, problem = 0, f"{type(failure).__name__}: {failure}"
            is_final = status not in (0, *LATER) or '"no_secret"' in problem
            if is_final or time.monotonic() + wait_s - began > self.patience_s:
                raise PostError(self._advice(request, status, problem))
            time.sleep(wait_s)

    def _attempt(self, request: Request) -> tuple[int, str, float]:
        """Status, what was said, and after how many seconds to try again."""
        headers = dict(request.headers) | signed(
            request, self._secrets.get(request.vendor, b""), self._known_as, time.time()
        )
        self._connection.request("POST", request.path, request.body, headers)
        answer = self._connection.getresponse()
        said = answer.read().decode(errors="replace")
        if answer.will_close:
            self.close()
        asked = answer.headers.get("Retry-After") or ""
        wait_s = float(asked) if asked.isascii() and asked.isdigit() else AGAIN_S
        return answer.status, said, min(wait_s, MAX_AGAIN_S)

    def close(self) -> None:
        self._connection.close()

    def _advice(self, request: Request, status: int, said: str) -> str:
        what = f"{request.vendor} {request.topic}, webhook {request.ids[0]}"
        try:
            said = json.loads(said)["message"]
        except (ValueError, KeyError, TypeError):
            said = said[:200]
        how = f"was answered with {status}" if status else "was not answered"
        return (
            f"{what}: {how} by {self.place}: {said} Look at `lakehouse logs webhooks`; what was"
            " sent before is in Kafka"
        )


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
