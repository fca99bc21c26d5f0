"""`python -m lakehouse_assets.pages.app`: the pages as a web service, on loopback.

`/` links to them, `/weather` and `/quality` are for people, `/api/…` is what they show, as JSON.
`/health` says that this process does its work; it stays well while what it reads from is away.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from string import Template
from typing import Any

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from lakehouse_assets import settings, trouble
from lakehouse_assets.pages import weather
from lakehouse_assets.pages.shared import Looking, Shared, SharedBy

HOST = "127.0.0.1"
NAMES = [HOST, "localhost"]  # by another name a page from elsewhere could read this one
STATIC = Path(__file__).parent / "static"
WEATHER_FRESH_S, WEATHER_PATIENCE_S = 1.0, 6.0
QUALITY_FRESH_S, QUALITY_PATIENCE_S = 3.0, 5.0
FIRST_PATIENCE_S = 60.0  # of the first look at the checks, which has to import all tables
STOP_S = 5
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # ask whether it has changed
}

Next = Callable[[Request], Awaitable[Response]]


def create_app() -> FastAPI:
    app = FastAPI(title="Pages", version="1", docs_url=None, redoc_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=NAMES)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _broken)
    app.middleware("http")(_with_headers)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_pages(app)
    _add_weather(app)
    _add_quality(app)
    return app


def _add_pages(app: FastAPI) -> None:
    dagster = f"http://{HOST}:{settings.port('dagster')}"
    for path, name in (("/", "index"), ("/weather", "weather"), ("/quality", "quality")):
        page = Template((STATIC / f"{name}.html").read_text()).substitute(dagster=dagster)
        app.get(path, include_in_schema=False)(_constant(page))

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "healthy"}


def _constant(page: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    return answer


def _add_weather(app: FastAPI) -> None:
    every = Shared(weather.minutes, WEATHER_FRESH_S, WEATHER_PATIENCE_S)
    newer: SharedBy[datetime, weather.Minutes] = SharedBy(
        weather.minutes, WEATHER_FRESH_S, WEATHER_PATIENCE_S
    )

    @app.get("/api/weather", summary="The newest minutes of each city")
    async def history() -> Response:
        try:
            return _json(weather.told((await every.seen()).value))
        except (weather.Away, Looking) as away:
            return _json({"error": str(away)}, 503)

    @app.get("/api/weather/latest", summary="Those of them that were written after a moment")
    async def latest(since: str = "") -> Response:
        try:
            after = weather.parsed_since(since)
            return _json(weather.told((await newer.seen(after)).value, after))
        except weather.BadSince as bad:
            return _json({"error": str(bad)}, 400)
        except (weather.Away, Looking) as away:
            return _json({"error": str(away)}, 503)


def _add_quality(app: FastAPI) -> None:
    opened: list[Shared[dict[str, Any]]] = []  # imports all tables, and only if anybody looks
    opening = asyncio.Lock()

    async def board() -> dict[str, Any]:
        async with opening:
            if not opened:
                find = await asyncio.to_thread(_open_board)
                bounds = (QUALITY_FRESH_S, QUALITY_PATIENCE_S, FIRST_PATIENCE_S)
                opened.append(Shared(find, *bounds))
        return (await opened[0].seen()).value

    @app.get("/api/quality", summary="Every check of every table, now and over the last 30 days")
    async def quality() -> Response:
        try:
            return _json(await asyncio.wait_for(asyncio.shield(board()), FIRST_PATIENCE_S))
        except (Looking, asyncio.TimeoutError):
            return _json({"error": "The first look is still going on. Try again soon."}, 503)
        except Exception as error:
            if not (why := trouble.told(error)):
                raise
            return _json({"error": why}, 503)


def _open_board() -> Callable[[], dict[str, Any]]:
    from lakehouse_assets.pages.board import Board

    return Board().told


async def _with_headers(request: Request, call_next: Next) -> Response:
    answer = await call_next(request)
    answer.headers.update(HEADERS)
    return answer


async def _unknown(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    what = {404: "There is no such page.", 405: "Not with this method."}.get(status, "Refused.")
    return _json({"error": f"{what} See / for those there are."}, status)


async def _broken(_: Request, error: Exception) -> Response:
    """A mistake of ours; uvicorn writes the traceback to the log."""
    return _json({"error": "This failed. `lakehouse logs pages` says why."}, 500)


def _json(said: dict[str, Any], status: int = 200) -> Response:
    """What is no number (NaN, infinities) is null in JSON."""
    return Response(orjson.dumps(said), status, media_type="application/json")


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app, factory=True, host=HOST, port=settings.port("pages"), ws="none",
        access_log=False, log_level="error", server_header=False, timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip


if __name__ == "__main__":
    main()
