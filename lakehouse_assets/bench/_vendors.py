"""The vendors, in a process of their own: signed requests over many connections until stdin closes.

    python -m lakehouse_assets.bench._vendors <port> <connections> <bytes> <file>

Each connection sends, waits for the answer, and sends the next; what is not answered with 200 is
sent again, as the vendors do, sooner. At the end the file holds what was answered.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

import uvloop

from lakehouse_assets.sources.webhooks.signatures import (
    sign_hubspot,
    sign_shopify,
    sign_stripe,
)

HOST = "127.0.0.1"
SECRET = "the bench's own"  # of all three vendors
AGAIN_S = 0.2


@dataclass
class Heard:
    """`answers`: when, after how many milliseconds, and the id that was acknowledged."""

    answers: list[tuple[float, float, str]] = field(default_factory=list)
    refused: int = 0
    broken: int = 0


def requests(port: int, size: int) -> Iterator[tuple[str, bytes]]:
    """An id and the request; ever new ids, of one vendor after the other. `size`: of a body."""
    secret = SECRET.encode()
    note = "x" * max(1, size - 300)
    for n in count(1):
        vendor = ("shopify", "stripe", "hubspot")[n % 3]
        now = time.time()
        if vendor == "shopify":
            known = f"bench-{n}"
            body = _json({"id": n, "total_price": "12.50", "note": note, "updated_at": now})
            headers = {
                "X-Shopify-Topic": "orders/updated", "X-Shopify-Webhook-Id": known,
                "X-Shopify-Hmac-Sha256": sign_shopify(body, secret),
            }  # fmt: skip
        elif vendor == "stripe":
            known = f"evt_{n}"
            charge = {"id": f"ch_{n}", "object": "charge", "amount": 1250, "description": note}
            body = _json({"id": known, "type": "charge.succeeded", "data": {"object": charge}})
            headers = {"Stripe-Signature": sign_stripe(body, secret, int(now))}
        else:
            known, stamp = str(n), str(int(now * 1000))
            event = {"eventId": n, "subscriptionType": "contact.propertyChange", "objectId": n}
            body = _json([event | {"propertyName": "note", "propertyValue": note}])
            uri = f"http://{HOST}:{port}/webhooks/hubspot"
            headers = {
                "X-HubSpot-Signature-v3": sign_hubspot("POST", uri, body, secret, stamp),
                "X-HubSpot-Request-Timestamp": stamp,
            }
        yield known, _request(port, vendor, headers, body)


def _json(content: object) -> bytes:
    return json.dumps(content).encode()


def _request(port: int, vendor: str, headers: dict[str, str], body: bytes) -> bytes:
    usual = {
        "Host": f"{HOST}:{port}", "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }  # fmt: skip
    lines = [f"POST /webhooks/{vendor} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in {**usual, **headers}.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _sender(
    port: int, made: Iterator[tuple[str, bytes]], over: asyncio.Event, heard: Heard
) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    while not over.is_set():
        known, request = next(made)
        while True:
            began = time.perf_counter()
            try:
                writer.write(request)
                status = await _status(reader)
            except (OSError, asyncio.IncompleteReadError):
                heard.broken += 1
                await asyncio.sleep(AGAIN_S)
                reader, writer = await asyncio.open_connection(HOST, port)
                continue
            if status == 200:
                took = (time.perf_counter() - began) * 1000
                heard.answers.append((time.time(), took, known))
                break
            heard.refused += 1
            if over.is_set() or status not in (429, 503):
                break
            await asyncio.sleep(AGAIN_S)
    writer.close()


async def _status(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            await reader.readexactly(int(line.partition(b":")[2]))
    return int(head[9:12])


async def _send(port: int, connections: int, size: int) -> Heard:
    over, heard, made = asyncio.Event(), Heard(), requests(port, size)
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _at_end, over)
    senders = [_sender(port, made, over, heard) for _ in range(connections)]
    await asyncio.gather(*senders)
    return heard


def _at_end(over: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1):
        over.set()


def main() -> None:
    port, connections, size, file = sys.argv[1:]
    uvloop.install()
    heard = asyncio.run(_send(int(port), int(connections), int(size)))
    Path(file).write_text(json.dumps(asdict(heard)))


if __name__ == "__main__":
    main()
