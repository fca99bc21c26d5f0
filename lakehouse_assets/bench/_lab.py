"""What benches and chaos share: a lake that vanishes afterwards, and a meter of what work costs."""

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, socket
from typing import TYPE_CHECKING

import psutil

from lakehouse_assets import settings
from lakehouse_assets.commands.running import interruptible, uninterrupted
from lakehouse_assets.services.host import HOST, ServiceError, free
from lakehouse_assets.services.service import Service, start_all

if TYPE_CHECKING:
    from datetime import datetime

    from lakehouse_assets.lake.lake import Lake
    from lakehouse_assets.lake.table import LakeTable

TRIES = 100  # random port ranges
HOURS = 48  # hours of a topic that one catching up goes through
SAMPLE_S = 0.1
LINE_EVERY_S = 60
_CLAIMS: list[ExitStack] = []  # UDP sockets on the ports that were given out


class Lab:
    """A running lake of its own; `lake(name)` opens further ones beside it on the same services."""

    def __init__(self, folder: Path, services: Sequence[Service]) -> None:
        self.folder, self.services = folder, list(services)

    def pid(self, name: str) -> int:
        pid = next(s for s in self.services if s.name == name).status().pid
        if pid is None:
            raise ServiceError(f"{name} is not running; its log is under {self.folder}")
        return pid

    @contextmanager
    def lake(self, name: str, keep: bool = False) -> Iterator["Lake"]:
        """An empty lake (or the kept one of that name), also for processes started meanwhile."""
        from lakehouse_assets.lake.lake import Lake

        folder = self.folder / "lakes" / name
        folder.mkdir(parents=True, exist_ok=True)
        there = {
            "LAKEHOUSE_CATALOG_URI": f"sqlite:///{folder / 'catalog.db'}",
            "LAKEHOUSE_WAREHOUSE": str(folder / "warehouse"),
        }
        with settings.environment(there):
            opened = Lake(run=f"bench {name}")
            try:
                yield opened
            finally:
                opened.close()
                if not keep:
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lab(*services: Service) -> Iterator[Lab]:
    """Start the services in a temporary folder, on free ports; stop and delete all at the end.

    What joins `services` later is stopped too, before what it was started on.
    """
    folder = Path(tempfile.mkdtemp(prefix="lakehouse-lab-")).resolve()
    there = {
        "LAKEHOUSE_HOME": str(folder),
        "LAKEHOUSE_JARS": str(settings.jars_home()),
        "LAKEHOUSE_PORT_OFFSET": str(free_port_offset()),
    }
    place, names = Lab(folder, services), ", ".join(s.name for s in services)
    with interruptible(), settings.environment(dict.fromkeys(settings.POINTERS) | there):
        try:
            began = time.monotonic()
            start_all(services)
            say(f"{names} up in {time.monotonic() - began:.1f} s, in a lake of their own")
            yield place
        finally:
            with uninterrupted(), ExitStack() as ending:  # to its end, whatever fails on the way
                ending.callback(shutil.rmtree, folder, ignore_errors=True)
                for service in place.services:
                    ending.callback(service.stop)


def free_port_offset() -> int:
    """All ports free, and below those that the system gives to outgoing connections."""
    for _ in range(TRIES):
        offset = random.randrange(1_000, 17_000)
        ports = [port + offset for port in settings.PORTS.values()]
        if all(map(free, ports)) and _claimed(ports):
            return offset
    raise ServiceError(f"no free range of ports after {TRIES} tries; what occupies so many?")


def _claimed(ports: list[int]) -> bool:
    """Whether nobody else is about to use them: their UDP sides are ours until we end."""
    with ExitStack() as claim:
        for port in ports:
            side = claim.enter_context(socket(AF_INET, SOCK_DGRAM))
            try:
                side.bind((HOST, port))
            except OSError:
                return False
        _CLAIMS.append(claim.pop_all())
    return True


@dataclass(frozen=True)
class Cost:
    """What one pass took."""

    wall_s: float
    cpu_s: float


class Meter:
    """Wall, CPU and peak memory of some processes during a `with` block."""

    def __init__(self, *pids: int) -> None:
        self._processes = [psutil.Process(pid) for pid in pids]
        self._done = threading.Event()
        self.wall_s = self.cpu_s = self.peak_mb = 0.0

    def __enter__(self) -> "Meter":
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        self._cpu, self._began = self._cpu_now(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._began
        self.cpu_s = self._cpu_now() - self._cpu
        self._done.set()
        self._sampler.join()

    def _cpu_now(self) -> float:
        return sum(t.user + t.system for t in (p.cpu_times() for p in self._processes))

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_S):
            resident = sum(p.memory_info().rss for p in self._processes)
            self.peak_mb = max(self.peak_mb, resident / 2**20)


def say(text: str) -> None:
    """A line for people; standard output belongs to the result."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(text, soft_wrap=True, markup=False)


@contextmanager
def doing(what: str) -> Iterator[None]:
    """A spinner on a terminal; the time it took on every console."""
    from rich.console import Console

    began = time.monotonic()
    with Console(stderr=True).status(what):
        yield
    say(f"{what}: {time.monotonic() - began:.1f} s")


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, elsewhere a line a minute; tell it how many are done."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    console = Console(stderr=True, highlight=False)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    began = told = time.monotonic()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def count(done: int) -> None:
            nonlocal told
            bar.update(task, completed=done)
            if not console.is_terminal and time.monotonic() - told > LINE_EVERY_S:
                told = time.monotonic()
                say(f"{what}: {done:,} of {total:,} after {told - began:.0f} s")

        yield count


def catch_up(lake: "Lake", wanted: "Sequence[LakeTable]", tend: bool = False) -> int:
    """What the sensor's runs would do until nothing is new; returns the number of commits.

    A topic that was filled across the full hour has more than one hour to go through. `tend`: with
    maintenance after each table, as in a run.
    """
    from lakehouse_assets.lake.advance import advance
    from lakehouse_assets.topics.kafka import hour_of, now
    from lakehouse_assets.upkeep.maintenance import maintain

    commits = 0
    for _ in range(HOURS):
        hour = _open_hour(lake, wanted)
        for table in wanted:
            outcome = advance(lake, table, (hour or hour_of(now())) if table.hourly else None)
            commits += len(outcome.published)
            if tend and outcome.published and outcome.head is not None:
                maintain(lake, outcome.head)
        if hour is None or _open_hour(lake, wanted) is None:
            return commits
    raise RuntimeError(f"still behind after {HOURS} hours; is something producing faster?")


def _open_hour(lake: "Lake", wanted: "Sequence[LakeTable]") -> "datetime | None":
    """The oldest hour with records that a raw table among them has not read."""
    from lakehouse_assets.topics.kafka import Kafka, NoTopic
    from lakehouse_assets.topics.position import first_open_hour, position

    kafka, hours = Kafka(), []
    for table in [t for t in wanted if t.topic]:
        lake.catalog.ensure(table.contract)
        with suppress(NoTopic):  # nobody sends to it here
            topic = kafka.topic(table.topic)
            _, start = position(lake.catalog.head(table.name), topic)
            hours.append(first_open_hour(kafka, topic, start, settings.first_hour()))
    return min((hour for hour in hours if hour), default=None)
