"""Dagster's three programs: the code server, which has loaded our definitions; the webserver with
the UI; the daemon with sensors and schedules.

All work on one instance under `<home>/dagster`, whose dagster.yaml is a copy of the one in the
repository's root. With a code server of their own, as a plain workspace.yaml gives them, webserver
and daemon would load the definitions twice, the daemon once a minute. What they started ends with
them.
"""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from lakehouse_assets import settings
from lakehouse_assets.services.host import (
    HOST,
    ServiceError,
    answers,
    carrying,
    ended,
    listening,
    locked,
)
from lakehouse_assets.services.service import MARK, Service

if TYPE_CHECKING:
    from dagster import DagsterInstance

LOCATION = "lakehouse_assets"
HEARTBEAT_S = 180  # the daemon writes one every 30 s; a busy machine may be late
LEFTOVER_PATIENCE_S = 5  # for a run to note that it was stopped
MAKE_INSTANCE = """
from dagster import DagsterInstance
with DagsterInstance.get() as instance:
    instance.get_runs_count(), instance.get_daemon_heartbeats(), instance.all_instigator_state()
"""


def dagster_home() -> Path:
    return settings.home() / "dagster"


def workspace() -> Path:
    """Names the code server; webserver and daemon are told of it by this file."""
    return dagster_home() / "workspace.yaml"


def dagster_env() -> dict[str, str]:
    """What points any Dagster command at this lake's instance."""
    return {"DAGSTER_HOME": str(dagster_home()), "DAGSTER_DISABLE_TELEMETRY": "yes"}


def instance() -> "DagsterInstance":
    """For who looks at this lake's runs and checks from outside them, whatever DAGSTER_HOME is to
    them: the history lies where that says.
    """
    from dagster import DagsterInstance

    with settings.environment(dagster_env()):
        return DagsterInstance.from_config(str(dagster_home()))


class _DagsterService(Service):
    start_timeout_s = 90

    @property
    def folder(self) -> Path:
        return dagster_home()

    def env(self) -> dict[str, str]:
        return super().env() | dagster_env()

    def prepare(self) -> None:
        """The databases are made by one process, before two programs would make them at once."""
        home = dagster_home()
        with locked(settings.home() / "run" / "dagster-home.lock", self.start_timeout_s):
            home.mkdir(parents=True, exist_ok=True)
            root = settings.ROOT / "dagster.yaml"
            if root.exists():
                shutil.copyfile(root, home / "dagster.yaml")
            server = {"host": HOST, "port": settings.port("dagster_code")}
            named = {"grpc_server": server | {"location_name": LOCATION}}
            workspace().write_text(json.dumps({"load_from": [named]}))  # which is YAML, too
            if (home / "ready").exists():
                return
            done = subprocess.run(
                [sys.executable, "-c", MAKE_INSTANCE],
                env=self.env(), cwd=home, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            if done.returncode:
                raise ServiceError(f"dagster: no instance in {home}:\n{done.stderr[-2000:]}")
            (home / "ready").touch()

    def stop(self) -> bool:
        """With what it left behind, should it have been killed."""
        stopped = super().stop()
        self._end_family()
        return stopped

    def _end(self, process: psutil.Process) -> None:
        super()._end(process)
        self._end_family()

    def _end_family(self) -> None:
        """Its code server and its runs, which would go on without it."""
        left = carrying(MARK, str(self.run_file))
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
        deadline = time.monotonic() + LEFTOVER_PATIENCE_S
        for process in left:
            if not ended(process, max(0.0, deadline - time.monotonic())):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


class CodeServer(_DagsterService):
    """Its port opens when the definitions are loaded; *Reload definitions* loads them anew."""

    name = "dagster-code"
    port_names = ("dagster_code",)

    def command(self) -> list[str]:
        program = [sys.executable, "-m", "dagster", "code-server", "start", "-h", HOST]
        where = ["-p", str(settings.port("dagster_code")), "--location-name", LOCATION]
        return [*program, *where, "-m", f"{LOCATION}.definitions"]

    def probe(self) -> bool:
        return listening(settings.port("dagster_code"))


class Webserver(_DagsterService):
    name = "dagster"
    port_names = ("dagster",)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('dagster')}"

    def command(self) -> list[str]:
        program = [sys.executable, "-m", "dagster_webserver", "-h", HOST]
        return [*program, "-p", str(settings.port("dagster")), "-w", str(workspace())]

    def probe(self) -> bool:
        return answers(f"{self.url}/server_info", "dagster_webserver_version")


class Daemon(_DagsterService):
    name = "dagster-daemon"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace())]

    def probe(self) -> bool:
        """Has it written a heartbeat lately, and since it was started?"""
        process = self._recorded()
        if process is None:
            return False
        beat = _newest_heartbeat(dagster_home() / "history" / "runs.db")
        if beat is None:
            return True  # its storage is not in a file here; that it lives must do
        return beat > max(process.create_time(), time.time() - HEARTBEAT_S)


def _newest_heartbeat(database: Path) -> float | None:
    """Read without Dagster, whose import takes seconds; None: there is no such database."""
    if not database.exists():
        return None
    try:
        runs = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=1)
        try:
            row = runs.execute("select max(timestamp) from daemon_heartbeats").fetchone()
        finally:
            runs.close()
    except sqlite3.Error:
        return 0.0
    return _epoch(row[0]) if row and row[0] else 0.0


def _epoch(said: str) -> float:
    return datetime.fromisoformat(said).replace(tzinfo=timezone.utc).timestamp()
