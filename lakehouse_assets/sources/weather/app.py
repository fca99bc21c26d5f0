"""`python -m lakehouse_assets.sources.weather.app`: the logging server, on loopback.

`GET /log?city=&temperature=` and `GET /health`, with the seed's answers; `/docs` shows them.
`/health` says that this process does its work: it stays well while Kafka is away, since starting it
again would not bring Kafka back.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from lakehouse_assets import settings
from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST, MAX_CITY
from lakehouse_assets.sources.weather.door import Door
from lakehouse_assets.sources.webhooks.app import BACKLOG, HOST, KEEP_ALIVE_S, STOP_S
from lakehouse_assets.sources.webhooks.description import REFUSAL, TEXT
from lakehouse_assets.sources.webhooks.protocol import BoundedProtocol
from lakehouse_assets.sources.webhooks.refusal import Refused

REASONS = {
    400: "No reading: a parameter is missing, given twice, too long or out of bounds.",
    408: "The request was not here in time.",
    431: "The head is too large.",
    503: "Kafka is away or the server is full; Retry-After says when.",
}
READING = {
    "type": "object", "required": ["city", "temperature", "ts"], "additionalProperties": False,
    "properties": {"city": TEXT, "temperature": TEXT, "ts": TEXT},
}  # fmt: skip
LOGGED = {
    "type": "object", "required": ["status", "message", "data"], "additionalProperties": False,
    "properties": {"status": TEXT, "message": TEXT, "data": READING},
}  # fmt: skip
HEALTHY = {"type": "object", "required": ["status"], "properties": {"status": TEXT}}
PARAMETERS = [
    {"name": "city", "in": "query", "required": True,
     "schema": TEXT | {"minLength": 1, "maxLength": MAX_CITY}, "description": "Its name."},
    {"name": "temperature", "in": "query", "required": True, "schema": TEXT,
     "description": f"A number from {COLDEST} to {HOTTEST}, in °F."},
]  # fmt: skip


def create_app() -> FastAPI:
    door = Door()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await door.open()
        yield
        await door.close()

    app = FastAPI(
        title="Weather", version="1", lifespan=lifespan,
        description="Readings of thermometers; what is logged is in Kafka.",
    )  # fmt: skip
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Exception, _broken)

    @app.get("/log", responses=_answers(), openapi_extra={"parameters": PARAMETERS},
             response_class=Response, summary="Log a reading")  # fmt: skip
    async def log(request: Request) -> Response:
        return _json(await door.log(request.scope["query_string"]))

    @app.get("/health", responses={200: _told_as(HEALTHY, "This process works.")},
             response_class=Response, summary="Does it do its work?")  # fmt: skip
    async def health() -> Response:
        return _json({"status": "healthy"})

    return app


def _answers() -> dict[int | str, dict[str, Any]]:
    refused: dict[int | str, dict[str, Any]] = {
        status: _told_as(REFUSAL, why) for status, why in REASONS.items()
    }
    return {200: _told_as(LOGGED, "In Kafka, acknowledged."), **refused}


def _told_as(schema: dict[str, Any], why: str) -> dict[str, Any]:
    return {"description": why, "content": {"application/json": {"schema": schema}}}


def _json(said: dict[str, Any]) -> Response:
    return Response(orjson.dumps(said), media_type="application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return Response(error.body(), error.status, error.headers, media_type="application/json")


async def _unknown(_: Request, error: Exception) -> Response:
    """No such path, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: "not_found", 405: "not_allowed"}.get(status, "refused")
    return await _refused(_, Refused(status, code, "See /docs."))


async def _broken(_: Request, error: Exception) -> Response:
    """A mistake of ours; uvicorn writes the traceback to the log."""
    return await _refused(_, Refused(500, "broken", "The log says why."))


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app, factory=True, host=HOST, port=settings.port("weather"), loop="uvloop",
        http=BoundedProtocol, ws="none", lifespan="on", access_log=False, log_level="error",
        server_header=False, date_header=False, backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip


if __name__ == "__main__":
    main()
