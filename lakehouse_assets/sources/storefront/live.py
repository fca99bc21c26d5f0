"""Traffic at a rate: in the foreground until it is done, or in a thread until it is stopped.

A database that goes away is waited for: what it had not committed never happened, and the next
transaction goes on from what it has.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

import psycopg

from lakehouse_assets.sources.storefront.database import ShopBusyError, ShopError, writer
from lakehouse_assets.sources.storefront.traffic import Traffic

MAX_RATE = 1_000.0  # transactions per second; one connection does no more
AWAY_S = 120  # how long a database that is away is waited for
RETRY_S = 0.5
PACE_S = 0.02  # what is due within it is done together
PROGRESS_S = 0.2

log = logging.getLogger(__name__)


class Flow:
    """So much traffic, and how far it is. Rate 0: as fast as can be; count None: without end."""

    def __init__(self, seed: int, rate: float, count: int | None = None) -> None:
        self.seed, self.rate, self.count = seed, rate, count
        self.kinds: Counter[str] = Counter()
        self.done = 0

    def run(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        traffic, was_there, lost_at = Traffic(self.seed), False, 0.0
        while not self._is_over(stop):
            before = self.done
            try:
                with writer() as connection:
                    was_there = True
                    self._run(traffic, connection, stop, on_progress)
            except (psycopg.OperationalError, ShopBusyError) as failure:
                if self.done > before or not lost_at:
                    lost_at = time.monotonic()
                if not was_there or time.monotonic() - lost_at > AWAY_S:
                    raise _told(failure) from failure
                log.warning("the shop's database is away: %s", str(failure).strip())
                stop.wait(RETRY_S)
        on_progress(self.done)

    def _is_over(self, stop: threading.Event) -> bool:
        return stop.is_set() or (self.count is not None and self.done >= self.count)

    def _run(
        self,
        traffic: Traffic,
        connection: psycopg.Connection,
        stop: threading.Event,
        on_progress: Callable[[int], None],
    ) -> None:
        began, first, told = time.monotonic(), self.done, 0.0
        while not self._is_over(stop):
            if self.rate:
                wait_s = began + (self.done - first) / self.rate - time.monotonic()
                if wait_s > PACE_S and stop.wait(wait_s):
                    break
            self.kinds[traffic.transact(connection)] += 1
            self.done += 1
            if time.monotonic() - told > PROGRESS_S:
                told = time.monotonic()
                on_progress(self.done)


def _told(failure: Exception) -> ShopError:
    if isinstance(failure, ShopBusyError):
        return failure
    return ShopError(
        f"The shop's database does not answer: {str(failure).strip()}. `lakehouse up postgres`"
        " starts it"
    )


class Live:
    """The traffic of a process: on or off, and what became of it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.flow = Flow(0, 0, 0)
        self.error: str | None = None

    @property
    def is_on(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, rate: float, seed: int) -> bool:
        """False: it is on already."""
        with self._changing:
            if self.is_on:
                return False
            with writer():  # whoever asks hears at once that it cannot be
                pass
            self.flow, self.error, self._stop = Flow(seed, rate), None, threading.Event()
            self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)
            self._thread.start()
        return True

    def stop(self) -> None:
        """What was begun is ended."""
        with self._changing:
            self._stop.set()
            if self._thread:
                self._thread.join()

    def _run(self) -> None:
        try:
            self.flow.run(self._stop, lambda _: None)
        except Exception as failure:
            log.exception("the traffic has ended")
            told = isinstance(failure, ShopError)
            self.error = str(failure) if told else f"{type(failure).__name__}: see the log"
