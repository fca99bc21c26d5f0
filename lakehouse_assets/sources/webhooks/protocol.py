"""HTTP as uvicorn speaks it, bounded where it is not: heads without end, senders without haste.

An application hears of a request only when its head is complete, so this cannot be its business.
"""

from asyncio import BaseTransport, TimerHandle
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lakehouse_assets.sources.webhooks.limits import MAX_HEAD
from lakehouse_assets.sources.webhooks.refusal import Refused, later

REQUEST_S = 10  # from a request's first byte to its last, and from connecting to the first
MAX_CONNECTIONS = 1_000
RETRY_S = 1


class BoundedProtocol(HttpToolsProtocol):
    """Refuses on its own, in the door's manner, and hangs up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head = 0  # bytes of a head that is not complete
        self._in_head = False
        self._due: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > MAX_CONNECTIONS:
            self._refuse(later(503, "busy", f"{MAX_CONNECTIONS} connections are open.", RETRY_S))
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        was_in_head = self._in_head
        super().data_received(data)
        if was_in_head and self._in_head:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._refuse(Refused(431, "head_too_large", f"At most {MAX_HEAD:,} bytes."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        self._expect()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._done()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(Refused(400, "invalid_http", "This is no HTTP request."))

    def _expect(self) -> None:
        self._done()
        self._due = self.loop.call_later(REQUEST_S, self._overdue)

    def _done(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _overdue(self) -> None:
        self._refuse(Refused(408, "too_slow", f"A request must be here within {REQUEST_S} s."))

    def _refuse(self, refused: Refused) -> None:
        if self.transport.is_closing():
            return
        body = refused.body()
        headers = {
            "content-type": "application/json", "content-length": str(len(body)),
            "connection": "close", **refused.headers,
        }  # fmt: skip
        lines = [f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.transport.close()
