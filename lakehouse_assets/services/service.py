"""A program of the lake that runs on its own: started once, found again, stopped by its own pid.

The truth is the operating system's: a pid counts only together with its process's create time, so
neither a killed service nor a pid that was given to another process can deceive. Everything binds
to 127.0.0.1 and keeps its files under `settings.home()`.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from lakehouse_assets import settings
from lakehouse_assets.services.host import (
    ServiceError,
    alive,
    carrying,
    ended,
    footprint,
    free,
    heeding,
    leads_session,
    locked,
    port_owner,
    write_atomically,
)

LOG_BYTES = 10_000_000  # a longer log is set aside at the next start; one old one is kept
PORT_PATIENCE_S = 3
MARK = "LAKEHOUSE_SERVICE"  # in a service's environment: which lake's which service it is

State = Literal["running", "stopped", "unhealthy", "foreign"]
_children: list[subprocess.Popen[bytes]] = []  # held, so that Python reaps the ones that die


@dataclass(frozen=True)
class Status:
    """`foreign`: not ours to stop — run by somebody else, or its port is taken by another."""

    name: str
    state: State
    pid: int | None
    ports: Mapping[str, int]
    rss_mb: int
    uptime_s: int
    log: str


class Service:
    """Subclass it with `name`, `port_names`, `command` and `probe`; the rest has a default."""

    name: str
    port_names: tuple[str, ...] = ()  # keys of settings.PORTS; the first is the one clients use
    start_timeout_s: float = 60
    stop_timeout_s: float = 20
    setting: str = ""  # the variable that names one which somebody else runs
    is_optional: bool = False  # not missed while it does not run
    stop_signal: signal.Signals = signal.SIGTERM  # asks it to end

    def command(self) -> list[str]:
        raise NotImplementedError

    def probe(self) -> bool:
        """Does it do its work? Light: no heavy import, answers (or gives up) within a second."""
        raise NotImplementedError

    def env(self) -> dict[str, str]:
        return settings.reaching_ourselves(os.environ)

    def prepare(self) -> None:
        """Write what the command needs. Runs under the lock, while the service is stopped."""

    def external(self) -> str | None:
        """The address of one that somebody else runs; it is probed, never started or stopped."""
        return None

    @property
    def ports(self) -> dict[str, int]:
        return {name: settings.port(name) for name in self.port_names}

    @property
    def folder(self) -> Path:
        return settings.home() / self.name

    @property
    def log(self) -> Path:
        return settings.home() / "logs" / f"{self.name}.log"

    @property
    def run_file(self) -> Path:
        return settings.home() / "run" / f"{self.name}.json"

    def start(self) -> bool:
        """Bring it up and wait until it is well; False: it already was."""
        if self.external():
            if self.probe():
                return False
            raise ServiceError(
                f"{self.name}: {self.external()} does not answer. {self.setting} names it, so it is"
                f" not started here: start it, or unset {self.setting} to use the embedded one."
            )
        if self._recorded() and self.probe():
            return False
        with locked(self.run_file.with_suffix(".lock"), self.start_timeout_s + 30):
            process = self._recorded() or self._orphan()
            if process and self._wait(process):
                return False
            if process:
                self._kill(process)
            self._require_free_ports()
            self.prepare()
            process, log_start = self._launch()
            if not self._wait(process):
                failure = self._failure(process, log_start)
                self._end(process)
                raise ServiceError(failure)
        return True

    def stop(self) -> bool:
        """Stop our own process and nothing else, also one from before another's was named in the
        environment; False: there was none.
        """
        with locked(self.run_file.with_suffix(".lock"), self.start_timeout_s + 30):
            process = self._recorded() or self._orphan()
            if process:
                self._end(process)
        return process is not None

    def status(self) -> Status:
        process = None if self.external() else self._recorded()
        if process:
            state: State = "running" if self.probe() else "unhealthy"
        elif self.external():
            state = "foreign" if self.probe() else "unhealthy"
        else:
            state = "foreign" if any(not free(p) for p in self.ports.values()) else "stopped"
        rss, uptime_s = footprint(process)
        pid = process.pid if process else None
        return Status(self.name, state, pid, self.ports, rss // 2**20, uptime_s, str(self.log))

    def _recorded(self) -> psutil.Process | None:
        try:
            run = json.loads(self.run_file.read_text())
            process = psutil.Process(run["pid"])
            same = abs(process.create_time() - run["created"]) < 0.01
            return process if same and alive(process) else None
        except (OSError, ValueError, KeyError, psutil.Error):
            return None

    def _orphan(self) -> psutil.Process | None:
        """Ours although unrecorded: its starter was killed between starting and writing it down."""
        # A service leads its session; its own helpers inherit the mark but do not lead.
        found = [p for p in carrying(MARK, str(self.run_file)) if leads_session(p)]
        oldest = min(found, key=lambda p: p.create_time(), default=None)
        if oldest:
            self._record(oldest)
        return oldest

    def _record(self, process: psutil.Process) -> None:
        self.run_file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"pid": process.pid, "created": process.create_time()})
        write_atomically(self.run_file, text)

    def _launch(self) -> tuple[psutil.Process, int]:
        command = heeding(self.stop_signal, self.command())
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        _children[:] = [child for child in _children if child.poll() is None]
        with self.log.open("ab") as log:
            log_start = log.tell()  # asked before the child writes: they share the place
            child = subprocess.Popen(
                command, env=self.env() | {MARK: str(self.run_file)}, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        _children.append(child)
        process = psutil.Process(child.pid)
        self._record(process)
        return process, log_start

    def _wait(self, process: psutil.Process) -> bool:
        deadline = time.monotonic() + self.start_timeout_s
        while time.monotonic() < deadline and alive(process):
            if self.probe():
                return True
            time.sleep(0.05)
        return False

    def _failure(self, process: psutil.Process, log_start: int) -> str:
        with self.log.open("rb") as log:
            log.seek(log_start)
            tail = log.read()[-20_000:].decode(errors="replace").splitlines()[-15:]
        what = "died while starting"
        if alive(process):
            what = f"is not well after {self.start_timeout_s:.0f} s and is stopped again"
        shown = "\n".join(f"  | {line}" for line in tail) or "  | (it wrote nothing)"
        return f"{self.name} {what}. The end of its log, {self.log}:\n{shown}"

    def _end(self, process: psutil.Process) -> None:
        self._kill(process)
        self._held_ports()
        self.run_file.unlink(missing_ok=True)

    def _kill(self, process: psutil.Process) -> None:
        for signal_, patience_s in ((self.stop_signal, self.stop_timeout_s), (signal.SIGKILL, 10)):
            try:
                process.send_signal(signal_)  # psutil looks at the create time first
            except psutil.NoSuchProcess:
                return
            if ended(process, patience_s):
                return
        raise ServiceError(f"{self.name}: pid {process.pid} survived SIGKILL; is its disk hanging?")

    def _require_free_ports(self) -> None:
        for name in self._held_ports():
            port = self.ports[name]
            raise ServiceError(
                f"{self.name}: port {port} ({name}) is taken by {port_owner(port)}. Stop it,"
                " or move all our ports: LAKEHOUSE_PORT_OFFSET=100 (see .env.example)."
            )

    def _held_ports(self) -> list[str]:
        """A JVM that was killed counts as dead a moment before its last thread lets go."""
        deadline = time.monotonic() + PORT_PATIENCE_S
        while held := [name for name, port in self.ports.items() if not free(port)]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return held


def start_all(services: Sequence[Service]) -> dict[str, bool]:
    """Start side by side; what failed is said together, once all have come up or failed."""
    with ThreadPoolExecutor(max_workers=max(1, len(services))) as pool:
        futures = {service.name: pool.submit(service.start) for service in services}
    errors = [error for future in futures.values() if (error := future.exception())]
    if unexpected := [error for error in errors if not isinstance(error, ServiceError)]:
        raise unexpected[0]
    if errors:
        raise ServiceError("\n".join(str(error) for error in errors))
    return {name: future.result() for name, future in futures.items()}
