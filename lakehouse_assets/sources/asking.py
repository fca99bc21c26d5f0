"""One connection to a web server of ours that is kept open; what it does not take for now is asked
again until it does. A vendor would try for hours and then give up silently: here it is bounded in
minutes, and loud.
"""

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

from lakehouse_assets import settings
from lakehouse_assets.sources.event import NotTakenError

HOST = "127.0.0.1"
ANSWER_S = 20
PATIENCE_S = 120  # with one question, over all its attempts
AGAIN_S = 1.0  # before the next attempt where no Retry-After says it
MAX_AGAIN_S = 60.0  # a Retry-After may ask for no more
LATER = (0, 429, 503)  # no answer, too many at once, Kafka is away
NEVER = '"no_secret"'  # said by who will not take it later either


class Question(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = {}


class Line:
    """To the server `what`, which listens on the port named `port` and is started under that name,
    too.
    """

    def __init__(self, port: str, what: str, patience_s: float = PATIENCE_S) -> None:
        self.place = f"http://{HOST}:{settings.port(port)}"
        self.patience_s = patience_s
        self._port, self._what = port, what
        self._connection = HTTPConnection(HOST, settings.port(port), timeout=ANSWER_S)

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def require(self) -> None:
        try:
            self._connection.request("GET", "/health")
            self._connection.getresponse().read()
        except (OSError, HTTPException) as failure:
            raise NotTakenError(
                f"No {self._what} answers at {self.place}: {failure}. Start it with"
                f" `lakehouse up {self._port} --no-generate`"
            ) from None
        finally:
            self.close()

    def tell(self, about: str, question: Callable[[], Question]) -> None:
        """Until it is answered with 200; what is asked may be made anew for each attempt."""
        began = time.monotonic()
        while True:
            wait_s = AGAIN_S
            try:
                status, said, wait_s = self._attempt(question())
                if status == 200:
                    return
            except (OSError, HTTPException) as failure:
                self.close()
                status, said = 0, f"{type(failure).__name__}: {failure}"
            is_final = status not in LATER or NEVER in said
            if is_final or time.monotonic() + wait_s - began > self.patience_s:
                raise NotTakenError(self._advice(about, status, said))
            time.sleep(wait_s)

    def _attempt(self, question: Question) -> tuple[int, str, float]:
        """Status, what was said, and after how many seconds to try again."""
        method, path, body, headers = question
        self._connection.request(method, path, body, dict(headers))
        answer = self._connection.getresponse()
        said = answer.read().decode(errors="replace")
        if answer.will_close:
            self.close()
        asked = answer.headers.get("Retry-After") or ""
        wait_s = float(asked) if asked.isascii() and asked.isdigit() else AGAIN_S
        return answer.status, said, min(wait_s, MAX_AGAIN_S)

    def _advice(self, about: str, status: int, said: str) -> str:
        try:
            said = json.loads(said)["message"]
        except (ValueError, KeyError, TypeError):
            said = said[:200]
        how = f"was answered with {status}" if status else "was not answered"
        return (
            f"{about}: {how} by {self.place}: {said} Look at `lakehouse logs {self._port}`; what"
            " was sent before is in Kafka"
        )
