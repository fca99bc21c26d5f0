"""Starting and stopping services for a command, which must know what was its own doing."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rich.console import Console

    from lakehouse_assets.services.service import Service


def start(group: "Sequence[Service]", started: "list[Service]", console: "Console") -> None:
    """Side by side. `started` gains those that did not run before, whatever becomes of others."""
    begin = time.monotonic()

    def bring_up(service: "Service") -> None:
        if service.start():
            started.append(service)
            console.print(f"{service.name} started in {time.monotonic() - begin:.1f} s")
        else:
            console.print(f"{service.name} was running already")

    if group:
        names = ", ".join(s.name for s in group)
        with console.status(f"starting {names}"), ThreadPoolExecutor(len(group)) as pool:
            futures = [pool.submit(bring_up, service) for service in group]
            try:
                wait(futures)
            except KeyboardInterrupt:
                with uninterrupted():  # what comes up meanwhile must be known, to be stopped
                    wait(futures)
                raise
        _raise_first(futures)


def start_groups(
    groups: "Sequence[Sequence[Service]]", started: "list[Service]", console: "Console"
) -> None:
    """One group after the other."""
    for group in groups:
        start(group, started, console)


def stop(services: "Sequence[Service]", console: "Console") -> int:
    """Those that run, dependants first; how many there were.

    All of them, whatever goes wrong on the way: a closed terminal or pipe, a second Ctrl-C, a
    service that cannot be stopped (which is told at the end).
    """
    futures: dict[Service, Future[bool]] = {}
    with uninterrupted():
        for group in _dependants_first(services):
            status = console.status("stopping " + ", ".join(s.name for s in group))
            _unheard(status.start)
            with ThreadPoolExecutor(len(group)) as pool:
                done = {service: pool.submit(service.stop) for service in group}
            _unheard(status.stop)
            for service, future in done.items():
                if not future.exception() and future.result():
                    _unheard(partial(console.print, f"{service.name} stopped"))
            futures |= done
    _raise_first(list(futures.values()))
    return sum(future.result() for future in futures.values())


def _unheard(tell: Callable[[], None]) -> None:
    """Nobody may be there to read it; rich even leaves the program over a broken pipe."""
    with suppress(Exception, SystemExit):
        tell()


def _raise_first(futures: "Sequence[Future[bool]] | Sequence[Future[None]]") -> None:
    for future in futures:
        if error := future.exception():
            raise error


def _dependants_first(services: "Sequence[Service]") -> "list[list[Service]]":
    """A run that is cut off should still find Kafka and Spark, so that it can say why it ended."""
    before = {"generate": 0, "dagster": 1, "pages": 1, "webhooks": 1, "shop": 1, "capture": 1,
              "connect": 2}  # fmt: skip
    ranks: list[list[Service]] = [[], [], [], []]
    for service in services:
        ranks[before.get(service.name.split("-")[0], 3)].append(service)
    return [rank for rank in ranks if rank]


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM and a closed terminal end like Ctrl-C, so that what was started is stopped."""
    with _handling((signal.SIGTERM, signal.SIGHUP), signal.default_int_handler):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """An impatient second Ctrl-C must not leave a broker behind; what is done here is bounded."""
    with _handling((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), _not_now):
        yield


def _not_now(*_: object) -> None:
    """Not SIG_IGN, which programs started meanwhile would inherit: SIGTERM would not end them."""


@contextmanager
def _handling(signals: Sequence[signal.Signals], handler: Callable[..., None]) -> Iterator[None]:
    """Not of what was ignored on entry (nohup). Only the main thread may say what signals do."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in signals}
        before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
