"""Telling the logging server of readings, one GET request after the other, and again until each is
taken.
"""

import json
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlencode

from lakehouse_assets import settings
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.produce import PACE_S, PROGRESS_S
from lakehouse_assets.sources.weather.readings import Reading

HOST = "127.0.0.1"
ANSWER_S = 20
PATIENCE_S = 120  # with one reading, over all its attempts
AGAIN_S, MAX_AGAIN_S = 1.0, 60.0  # before the next attempt; what a Retry-After may ask for


class LogError(NotTakenError):
    """The logging server did not take a reading; the message says which, why and what to do."""


def log(
    readings: Iterable[Reading],
    paced_from: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Send all readings and return how many; each has been answered with 200.

    `paced_from`: the instant that is now for the readings; else as fast as can be. `on_progress`
    hears the number answered so far, at most five times a second.
    """
    began = told = time.monotonic()
    ahead = paced_from.timestamp() - began if paced_from else 0
    sent = 0
    with Client() as client:
        client.require()
        for reading in readings:
            if paced_from and (left := reading.made_ms / 1000 - ahead - time.monotonic()) > PACE_S:
                time.sleep(left)
            client.log(reading)
            sent += 1
            if on_progress and (now := time.monotonic()) - told >= PROGRESS_S:
                on_progress(sent)
                told = now
    if on_progress:
        on_progress(sent)
    return sent


class Client:
    """One connection, which is opened again when the server hung up."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        port = settings.port("weather")
        self.place, self._patience_s = f"http://{HOST}:{port}", patience_s
        self._connection = HTTPConnection(HOST, port, timeout=ANSWER_S)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def require(self) -> None:
        try:
            self._connection.request("GET", "/health")
            self._connection.getresponse().read()
        except (OSError, HTTPException) as failure:
            raise LogError(
                f"No logging server for weather answers at {self.place}: {failure}. Start it with"
                " `lakehouse up weather --no-generate`"
            ) from None
        finally:
            self._connection.close()

    def log(self, reading: Reading) -> None:
        began = time.monotonic()
        while True:
            wait_s = AGAIN_S
            try:
                status, said, wait_s = self._attempt(reading)
                if status == 200:
                    return
            except (OSError, HTTPException) as failure:
                self._connection.close()
                status, said = 0, f"{type(failure).__name__}: {failure}"
            if status not in (0, 503) or time.monotonic() + wait_s - began > self._patience_s:
                raise LogError(self._advice(reading, status, said))
            time.sleep(wait_s)

    def _attempt(self, reading: Reading) -> tuple[int, str, float]:
        """Status, what was said, and after how many seconds to try again."""
        query = urlencode({"city": reading.city, "temperature": reading.temperature})
        self._connection.request("GET", f"/log?{query}")
        answer = self._connection.getresponse()
        said = answer.read().decode(errors="replace")
        if answer.will_close:
            self._connection.close()
        asked = answer.headers.get("Retry-After") or ""
        wait_s = float(asked) if asked.isascii() and asked.isdigit() else AGAIN_S
        return answer.status, said, min(wait_s, MAX_AGAIN_S)

    def _advice(self, reading: Reading, status: int, said: str) -> str:
        try:
            said = json.loads(said)["message"]
        except (ValueError, KeyError, TypeError):
            said = said[:200]
        how = f"was answered with {status}" if status else "was not answered"
        return (
            f"{reading.city!r}, {reading.temperature!r}: {how} by {self.place}: {said} Look at"
            " `lakehouse logs weather`; what was sent before is in Kafka"
        )
