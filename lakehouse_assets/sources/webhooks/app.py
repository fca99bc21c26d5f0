"""`python -m lakehouse_assets.sources.webhooks.app`: the door as a web service, on loopback.

A tunnel or a reverse proxy carries the vendors' requests to it. `/docs` shows the API, `/metrics`
is Prometheus's, `/health` says whether this process does its work: it stays well while Kafka is
away, since starting the door again would not bring it back.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from lakehouse_assets.sources.web import answering, serve
from lakehouse_assets.sources.webhooks.description import ANSWERS, HEALTH, METRICS, described
from lakehouse_assets.sources.webhooks.door import Door
from lakehouse_assets.sources.webhooks.vendors import VENDORS, Vendor

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
    answering(app)
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


def main() -> None:
    serve(create_app, "webhooks")


if __name__ == "__main__":
    main()
