"""JSON over HTTP to a service of ours or one that is named: no proxy, bounded, errors that say why.
"""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from lakehouse_assets.services.host import ServiceError

PATIENCE_S = 30
TOLD = 500  # characters of an answer that is no message


class Refused(ServiceError):
    """It answered, and said no; `status` is HTTP's, `code` the service's own, if it told one."""

    def __init__(self, status: int, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.status, self.code = status, code


def ask(url: str, method: str = "GET", body: Any = None, patience_s: float = PATIENCE_S) -> Any:
    """What it answers, None for nothing."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = Request(url, data, headers, method=method)
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=patience_s) as answer:
            return json.loads(answer.read() or b"null")
    except HTTPError as error:
        reason, code = _reason(error)
        raise Refused(error.code, f"{method} {url}: {error.code}, {reason}", code) from None
    except (OSError, ValueError, HTTPException) as error:
        raise ServiceError(f"{method} {url}: {getattr(error, 'reason', error)}") from error


def _reason(error: HTTPError) -> tuple[str, int | None]:
    text = error.read().decode(errors="replace")
    try:
        told = json.loads(text)
    except ValueError:
        return text[:TOLD], None
    if not isinstance(told, dict):
        return str(told), None
    return str(told.get("message", told)), told.get("error_code")
