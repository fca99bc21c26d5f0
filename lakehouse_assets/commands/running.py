"""Starting and stopping services for a command, which must know what was its own doing."""

import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
                wait(futures)  # what comes up meanwhile must be known, to be stopped
                raise
        errors = [error for future in futures if (error := future.exception())]
        if errors:
            raise errors[0]


def stop(services: "Sequence[Service]", console: "Console") -> int:
    """Those that run, dependants first; how many there were."""
    stopped = 0
    for group in _dependants_first(services):
        with console.status("stopping " + ", ".join(s.name for s in group)):
            with ThreadPoolExecutor(len(group)) as pool:
                futures = {service: pool.submit(service.stop) for service in group}
            for service, future in futures.items():
                if future.result():
                    stopped += 1
                    console.print(f"{service.name} stopped")
    return stopped


def _dependants_first(services: "Sequence[Service]") -> "list[list[Service]]":
    """A run that is cut off should still find Kafka and Spark, so that it can say why it ended."""
    ranks: list[list[Service]] = [[], [], []]
    for service in services:
        kind = service.name.split("-")[0]
        ranks[{"generate": 0, "dagster": 1}.get(kind, 2)].append(service)
    return [rank for rank in ranks if rank]


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM and a closed terminal end like Ctrl-C, so that what was started is stopped."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
