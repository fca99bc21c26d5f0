"""What the sources' web servers share: how they listen, and what they answer where nobody asked for
anything that there is.
"""

import logging
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from lakehouse_assets import settings
from lakehouse_assets.sources.webhooks.protocol import BoundedProtocol
from lakehouse_assets.sources.webhooks.refusal import Refused

HOST = "127.0.0.1"
KEEP_ALIVE_S, STOP_S = 30, 8
BACKLOG = 1_024  # connections that the system holds for us


def answering(app: FastAPI) -> FastAPI:
    """Every answer is JSON that says what to do, also where something is wrong."""
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Exception, _broken)
    return app


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return Response(error.body(), error.status, error.headers, media_type="application/json")


async def _unknown(request: Request, error: Exception) -> Response:
    """No such path, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    code, message = {
        404: ("not_found", "There is no such path: see /docs."),
        405: ("not_allowed", "Not with this method: see /docs."),
    }.get(status, ("refused", "See /docs."))
    return await _refused(request, Refused(status, code, message, headers))


async def _broken(request: Request, error: Exception) -> Response:
    """A mistake of ours; uvicorn writes the traceback to the log, and who asked may ask again."""
    return await _refused(request, Refused(500, "broken", "The log says why."))


def serve(create_app: Callable[[], FastAPI], port: str) -> None:
    """On the port of that name, until it is told to end."""
    # What is wrong with a request is counted, not logged: a forger could fill the disk.
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    uvicorn.run(
        create_app, factory=True, host=HOST, port=settings.port(port), loop="uvloop",
        http=BoundedProtocol, ws="none", lifespan="on", access_log=False, log_level="error",
        server_header=False, date_header=False, backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip
