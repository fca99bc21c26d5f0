"""Dagster's runs as processes: each is forked from one that has imported everything already.

Dagster's default launcher starts a Python for every run, which imports for four seconds before it
looks at the run. Here the daemon keeps a nursery: a process that imports once, then does nothing
but fork. It ends with who started it; the runs it forked go on by themselves. Code that was changed
since is never run from an old nursery: the next run starts a new one.
"""

import importlib
import os
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from platform import node
from typing import Any, NoReturn

import dagster as dg
import psutil
from dagster._config.config_schema import UserConfigSchema
from dagster._core.events import EngineEventData
from dagster._core.instance import InstanceRef
from dagster._core.launcher.base import LaunchRunContext, RunLauncher
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import (
    ConfigurableClass,
    ConfigurableClassData,
    deserialize_value,
    serialize_value,
)

from lakehouse_assets.services.host import ServiceError, alive

PACKAGE = Path(__file__).resolve().parents[1]
# What a run would import when it first needs it; the rest comes with the definitions.
NEEDED = (
    "lakehouse_assets.definitions", "confluent_kafka", "pandas", "pyarrow.parquet",
    "pyiceberg.catalog.sql", "pyiceberg.io.pyarrow", "pyspark.sql.connect.functions",
    "pyspark.sql.connect.session", "pyspark.sql.functions",
)  # fmt: skip
IMPORTED_WITHIN_S = 60  # by a new nursery, on a busy machine
LOCAL = ".dagster/grpc_info"  # tag of a run whose process Dagster's code server started
CLOCK_S = 1  # by which an event and the start of its process may be dated differently


class ForkingLauncher(RunLauncher[Any], ConfigurableClass):
    """`run_launcher` in dagster.yaml. Only the daemon launches; any process may terminate."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._inst_data = inst_data
        self._nursery: Nursery | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "ForkingLauncher":
        return cls(inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        run, origin = context.dagster_run, context.job_code_origin
        if origin is None:
            raise ServiceError(f"run {run.run_id} does not say where its code is")
        args = ExecuteRunArgs(origin, run.run_id, self._instance.get_ref())
        with self._one_at_a_time:
            if self._nursery is None or not self._nursery.is_fit():
                self.dispose()
                self._nursery = Nursery(self._instance.get_ref())
            pid = self._nursery.fork(serialize_value(args))
        where = {"pid": dg.MetadataValue.text(str(pid)), "host": dg.MetadataValue.text(node())}
        self._instance.report_engine_event(
            f"Forked a process for the run (pid: {pid}).", run, EngineEventData(where)
        )

    def terminate(self, run_id: str) -> bool:
        """As Ctrl-C does: the run notes that it was cancelled and closes what it opened."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)  # a run that has no process yet will get none
        known = process_of(self._instance, run)
        process = living(*known) if known else None
        if process is not None:
            process.send_signal(signal.SIGINT)
        return process is not None or known is None

    def dispose(self) -> None:
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None


class Nursery:
    """The handle on the process; this file, run as a program, is the process."""

    def __init__(self, instance: InstanceRef) -> None:
        self._code = _code()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lakehouse_assets.services.forked", serialize_value(instance)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip

    def is_fit(self) -> bool:
        return self._process.poll() is None and self._code == _code()

    def fork(self, args: str) -> int:
        """The pid of a new process that executes the run."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(args + "\n")
            ready, _, _ = select.select([self._process.stdout], [], [], IMPORTED_WITHIN_S)
            said = self._process.stdout.readline() if ready else "no answer"
        except BrokenPipeError:
            said = "it ended"
        if said.strip().isdigit():
            return int(said)
        self.close()
        raise ServiceError(f"no process for the run: {said.strip() or 'it ended'}")

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def _code() -> dict[Path, int]:
    """Our files and when each was changed; an editor's lock or a file just deleted is none."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        with suppress(FileNotFoundError):
            found[file] = file.stat().st_mtime_ns
    return found


def process_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> tuple[int, float] | None:
    """The pid of a run and when it was told of, if it is one of this machine's.

    Whose run it is: named by our launcher; by Dagster's own, which only starts local ones; or, as
    for a run begun by hand, known because storage in a file has one machine's runs only.
    """
    local = isinstance(instance.run_storage, SqliteRunStorage) or LOCAL in run.tags
    events = instance.get_records_for_run(
        run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT, limit=10
    ).records
    for event in events:
        entry = event.event_log_entry
        told = entry.dagster_event.engine_event_data.metadata if entry.dagster_event else {}
        here = local or ("host" in told and told["host"].value == node())
        if "pid" in told and here:
            return int(str(told["pid"].value)), entry.timestamp
    return None


def living(pid: int, seen_at: float) -> psutil.Process | None:
    """A process of that number that began later is somebody else's."""
    try:
        process = psutil.Process(pid)
        same = process.create_time() <= seen_at + CLOCK_S
        return process if same and alive(process) else None
    except psutil.NoSuchProcess:
        return None


def main() -> None:
    """Import, then fork for every line, until whoever writes them is gone."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a run prints goes to the log
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is meant for the runs
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    try:
        for name in NEEDED:
            importlib.import_module(name)
        given = deserialize_value(sys.argv[1], InstanceRef)  # the environment may name none
        with dg.DagsterInstance.from_ref(given) as instance:  # it imports more when it is asked
            instance.get_runs_count()
    except Exception as error:
        traceback.print_exc()
        answers.write(f"{type(error).__name__}: {error}".splitlines()[0] + "\n")
        raise SystemExit(1) from error
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            answers.close()
            _execute(line)
        answers.write(f"{pid}\n")


def _execute(args: str) -> NoReturn:
    from dagster._cli.api import execute_run_command

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    execute_run_command.main([args.strip()])
    raise SystemExit


if __name__ == "__main__":
    main()
