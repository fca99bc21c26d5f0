"""`python -m lakehouse_assets.sources.webhooks.app`: the door as a web service, on loopback.

A tunnel or a reverse proxy carries the vendors' requests to it. `/docs` shows the API, `/metrics`
is Prometheus's, `/health` says whether this process does its work: it stays well while Kafka is
away, since starting the door again would not bring it back.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from lakehouse_assets import settings
from lakehouse_assets.sources.webhooks.description import ANSWERS, HEALTH, METRICS, described
from lakehouse_assets.sources.webhooks.door import Door
from lakehouse_assets.sources.webhooks.protocol import BoundedProtocol
from lakehouse_assets.sources.webhooks.refusal import Refused
from lakehouse_assets.sources.webhooks.vendors import VENDORS, Vendor

HOST = "127.0.0.1"
KEEP_ALIVE_S, STOP_S = 30, 8
BACKLOG = 1_024  # connections that the system holds for us

Handler = Callable[[Request], Awaitable[Response]]


def create_app() -> FastAPI:
    """Secrets and settings are read here, once: a new secret means a new start."""
    door = Door()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await door.open()
        yield
        await door.close()

    app = FastAPI(
        title="Webhooks", version="1", lifespan=lifespan,
        description="Shopify, Stripe and HubSpot send here; what they signed goes to Kafka.",
    )  # fmt: skip
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _broken)
    for vendor in VENDORS:
        app.post(
            f"/webhooks/{vendor.name}", operation_id=vendor.name, response_class=Response,
            responses=ANSWERS, openapi_extra=described(vendor),
            summary=f"What {vendor.name} sends",
        )(_handler(door, vendor))  # fmt: skip
    _add_looks(app, door)
    return app


def _handler(door: Door, vendor: Vendor) -> Handler:
    async def receive(request: Request) -> Response:
        return await door.answer(vendor, request)

    return receive


def _add_looks(app: FastAPI, door: Door) -> None:
    @app.get("/health", responses=HEALTH, summary="Does it do its work?")
    async def health() -> dict[str, Any]:
        without = [v.secret for v in VENDORS if not door.secrets[v.name]]
        kafka = "up" if door.sender.is_up else "away"
        return {"status": "ok", "kafka": kafka, "secrets_missing": without}

    @app.get("/metrics", response_class=Response, responses=METRICS, summary="For Prometheus")
    async def metrics() -> Response:
        return Response(door.metrics.text(), media_type=CONTENT_TYPE_LATEST)


async def _unknown(_: Request, error: Exception) -> Response:
    """No such path, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    code, message = {
        404: ("not_found", "There is no such path: see /docs."),
        405: ("not_allowed", "Not with this method: see /docs."),
    }.get(status, ("refused", "See /docs."))
    return _told(Refused(status, code, message, headers))


async def _broken(_: Request, error: Exception) -> Response:
    """A mistake of ours; uvicorn writes the traceback to the log, and the vendor sends again."""
    return _told(Refused(500, "broken", "The log says why."))


def _told(refused: Refused) -> Response:
    return Response(
        refused.body(), refused.status, refused.headers, media_type="application/json"
    )


def main() -> None:
    # What is wrong with a request is counted, not logged: a forger could fill the disk.
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app, factory=True, host=HOST, port=settings.port("webhooks"), loop="uvloop",
        http=BoundedProtocol, ws="none", lifespan="on", access_log=False, log_level="error",
        server_header=False, date_header=False, backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip


if __name__ == "__main__":
    main()
