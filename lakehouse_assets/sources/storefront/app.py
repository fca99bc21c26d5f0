"""`python -m lakehouse_assets.sources.storefront.app`: the shop's seeder, on loopback; see /docs.

What is asked for wrongly is answered with 4xx and what to do, a database that is away with 503.
Pages of other sites cannot make a browser ask for anything.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated
from urllib.parse import urlsplit

import psycopg
import uvicorn
from fastapi import Body, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from lakehouse_assets import settings
from lakehouse_assets.sources.storefront.asked import (
    ANSWERS,
    Health,
    Refusal,
    Seed,
    Seeded,
    Start,
    TrafficState,
)
from lakehouse_assets.sources.storefront.database import ShopBusyError, connect, writer
from lakehouse_assets.sources.storefront.live import Live
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets.sources.storefront.seeding import NotEmptyError, Sizes, seed_shop
from lakehouse_assets.sources.storefront.traffic import utc_now

HOST = "127.0.0.1"
OWN_NAMES = (HOST, "localhost")
STOP_S = 8
CODES = {400: "invalid", 404: "not_found", 405: "not_allowed", 409: "conflict"}


def create_app() -> FastAPI:
    live = Live()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        live.stop()

    app = FastAPI(
        title="Web shop", version="1", lifespan=lifespan, responses=ANSWERS,
        description="Fills the shop's database with years of orders, and keeps its traffic going.",
    )  # fmt: skip
    app.middleware("http")(_own_pages_only)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    _add_seeding(app)
    _add_traffic(app, live)
    _add_health(app, live)
    return app


def _add_seeding(app: FastAPI) -> None:
    @app.post("/seed/full", summary="Customers, products, and years of orders")
    def seed_full(asked: Annotated[Seed, Body(default_factory=Seed)]) -> Seeded:
        """Answers when all is there: some seconds for each 100,000 orders."""
        sizes = Sizes(asked.customers, asked.products, asked.orders)
        with writer() as connection:
            return Seeded(rows=seed_shop(connection, sizes, asked.seed, utc_now(), asked.add))


def _add_traffic(app: FastAPI, live: Live) -> None:
    @app.post("/traffic/start", summary="Let things happen")
    def start(asked: Annotated[Start, Body(default_factory=Start)]) -> TrafficState:
        if not live.start(asked.rate, asked.seed):
            raise HTTPException(409, "The traffic is on already: POST /traffic/stop first.")
        return _state(live)

    @app.post("/traffic/stop", summary="Let nothing more happen")
    def stop() -> TrafficState:
        """What was begun is ended. No harm if nothing was on."""
        live.stop()
        return _state(live)


def _add_health(app: FastAPI, live: Live) -> None:
    @app.get("/health", summary="Does it do its work?")
    def health() -> Health:
        """The rows are the database's own estimate."""
        try:
            with connect() as connection:
                found = connection.execute(
                    "select relname, greatest(n_live_tup, 0) from pg_stat_user_tables"
                    " where schemaname = 'public' and relname = any(%s)", [list(NAMES)],
                ).fetchall()  # fmt: skip
        except psycopg.OperationalError:
            return Health(database="away", rows={}, traffic=_state(live))
        return Health(database="up", rows=dict(found), traffic=_state(live))


def _state(live: Live) -> TrafficState:
    flow = live.flow
    return TrafficState(
        on=live.is_on, rate=flow.rate, seed=flow.seed, transactions=flow.done,
        kinds=dict(flow.kinds), error=live.error,
    )  # fmt: skip


async def _own_pages_only(
    request: Request, answer: Callable[[Request], Awaitable[Response]]
) -> Response:
    """A browser says from which site's page it asks, and by which name it knows this machine;
    programs say no origin.
    """
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    if urlsplit(f"//{host}").hostname not in OWN_NAMES or (
        origin is not None and urlsplit(origin).netloc != host
    ):
        return _refused(403, "foreign_page", "Only this service's own pages may ask it.")
    return await answer(request)


def _refused(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse(Refusal(error=code, message=message).model_dump(), status)


async def _invalid(_: Request, error: Exception) -> Response:
    """Where it is wrong and why; nothing of what was sent is repeated."""
    assert isinstance(error, RequestValidationError)
    told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return _refused(422, "invalid", "; ".join(told))


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "refused")
    answer = _refused(error.status_code, code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


async def _conflict(_: Request, error: Exception) -> Response:
    advice = '. Say "add": true to add another to it' if isinstance(error, NotEmptyError) else ""
    return _refused(409, "conflict", f"{error}{advice}.")


async def _away(_: Request, error: Exception) -> Response:
    logging.getLogger(__name__).warning("the database is away: %s", error)
    return _refused(503, "database_away", "The shop's database does not answer; the log says more.")


async def _broken(_: Request, error: Exception) -> Response:
    """A mistake of ours; uvicorn writes the traceback to the log."""
    return _refused(500, "broken", "The log says why.")


Handler = Callable[[Request, Exception], Awaitable[Response]]
HANDLERS: dict[type[Exception], Handler] = {
    RequestValidationError: _invalid, HTTPException: _http, NotEmptyError: _conflict,
    ShopBusyError: _conflict, psycopg.OperationalError: _away, Exception: _broken,
}  # fmt: skip


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app, factory=True, host=HOST, port=settings.port("shop"), ws="none",
        access_log=False, log_level="error", server_header=False, date_header=False,
        timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip


if __name__ == "__main__":
    main()
