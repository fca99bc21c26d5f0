"""`python -m lakehouse_assets.sources.weather.app`: the logging server, on loopback.

`GET /log?city=&temperature=` and `GET /health`, with the seed's answers; `/docs` shows them.
`/health` says that this process does its work: it stays well while Kafka is away, since starting it
again would not bring Kafka back.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST, MAX_CITY
from lakehouse_assets.sources.weather.door import Door
from lakehouse_assets.sources.web import answering, serve
from lakehouse_assets.sources.webhooks.description import REFUSAL, TEXT

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
    answering(app)

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


def main() -> None:
    serve(create_app, "weather")


if __name__ == "__main__":
    main()
