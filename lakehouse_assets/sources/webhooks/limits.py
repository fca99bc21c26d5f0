"""What one request, one sender and all of them together may take of the door."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.requests import Request

from lakehouse_assets.sources.webhooks.refusal import Refused, later

MAX_BODY = 1_000_000  # bytes; no vendor's event is larger
MAX_DRAINED = 16_000_000  # bytes of one that is refused; a sender of more gets no answer
MAX_HEAD = 16_384  # bytes of names and values
MAX_HEADERS = 100
MAX_REQUESTS = 500  # at work at once; more would wait longer than a vendor does
MAX_SENDERS = 1_000  # addresses whose rate is remembered
BURST_S = 2  # seconds' worth of requests that may come at once
RETRY_S = 1


class Rates:
    """A token bucket for each sender, so that a flood from one shuts nobody else out."""

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._clock = per_s, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when

    def take(self, sender: str) -> None:
        now, full = self._clock(), self._per_s * BURST_S
        left, at = self._left.get(sender, (full, now))
        left = min(full, left + (now - at) * self._per_s)
        taken = left >= 1
        self._left[sender] = (left - taken, now)
        self._left.move_to_end(sender)
        if len(self._left) > MAX_SENDERS:
            self._left.popitem(last=False)
        if not taken:
            wait_s = math.ceil((1 - left) / self._per_s)
            raise later(429, "too_many_requests", f"More than {self._per_s:g}/s.", wait_s)


class Room:
    """For so many requests at once; the next is refused at once rather than answered too late."""

    def __init__(self, most: int = MAX_REQUESTS) -> None:
        self._most, self.taken = most, 0

    @contextmanager
    def place(self) -> Iterator[None]:
        if self.taken >= self._most:
            raise later(503, "busy", f"{self._most} requests are at work.", RETRY_S)
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def check_head(request: Request) -> None:
    """All that can be refused before the body is read."""
    raw = request.headers.raw
    size = sum(len(name) + len(value) for name, value in raw)
    if len(raw) > MAX_HEADERS or size > MAX_HEAD:
        raise Refused(
            431, "head_too_large", f"At most {MAX_HEADERS} headers, {MAX_HEAD:,} bytes in all."
        )
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    if kind.strip() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Refused(415, "not_json", "Content-Type must be application/json, in UTF-8.")
    if request.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        # The signature is over the bytes that were sent, and a small archive may be a large body.
        raise Refused(
            415, "encoded", "The body must not be compressed.", {"Accept-Encoding": "identity"}
        )
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > MAX_BODY:
        raise _too_large()


class Incoming:
    """A request's body, as it comes in."""

    def __init__(self, request: Request) -> None:
        self._receive = request.receive
        self._is_over = False
        self._is_asked_for = request.headers.get("expect", "").lower() == "100-continue"

    async def read(self) -> bytes:
        """Counted: what Content-Length says may be missing or a lie."""
        chunks, size = [], 0
        while not self._is_over:
            chunks.append(await self._chunk())
            size += len(chunks[-1])
            if size > MAX_BODY:
                raise _too_large()
        return b"".join(chunks)

    async def drain(self) -> None:
        """Throw away the rest: who is still sending would not see our answer, but a broken pipe.
        Not that of a sender that waits to be asked for it.
        """
        left = 0 if self._is_asked_for else MAX_DRAINED
        while left > 0 and not self._is_over:
            left -= len(await self._chunk())

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._is_over = True
            raise Refused(400, "disconnected", "The sender hung up before its body was there.")
        self._is_over = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk


def _too_large() -> Refused:
    return Refused(413, "body_too_large", f"A body may have {MAX_BODY:,} bytes.")
