import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import psutil
import pytest
from dagster import DagsterRunStatus as Status
from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.launcher.base import LaunchRunContext
from dagster._core.test_utils import create_run_for_test
from dagster._serdes import serialize_value

from lakehouse_assets import settings
from lakehouse_assets.services import forked
from lakehouse_assets.services.forked import ForkingLauncher, Nursery, living, process_of
from lakehouse_assets.services.host import ServiceError

PATIENCE_S = 60
MARKED_IN = "TEST_MARKED_IN"


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """Not named by the environment, as under `dagster dev`."""
    shutil.copyfile(settings.ROOT / "dagster.yaml", tmp_path / "dagster.yaml")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    monkeypatch.setenv(MARKED_IN, str(tmp_path))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


@dg.op
def leave_a_mark() -> None:
    Path(os.environ[MARKED_IN], "mark").write_text(str(os.getpid()))


@dg.op
def wait_long() -> None:
    time.sleep(PATIENCE_S)


@dg.job(executor_def=dg.in_process_executor)
def short() -> None:
    leave_a_mark()


@dg.job(executor_def=dg.in_process_executor)
def long() -> None:
    wait_long()


def launched(instance: dg.DagsterInstance, job: dg.JobDefinition) -> dg.DagsterRun:
    origin = ReconstructableJob.for_module(__name__, job.name).get_python_origin()
    run = create_run_for_test(
        instance, job_name=job.name, job_code_origin=origin, status=Status.STARTING
    )
    instance.run_launcher.launch_run(LaunchRunContext(run, None))
    return run


def waited(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def ended_as(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Status:
    def now() -> dg.DagsterRun:
        found = instance.get_run_by_id(run.run_id)
        assert found
        return found

    waited(lambda: now().is_finished)
    return now().status


def test_runs_are_forked_from_one_process_and_cancelled_by_any(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    assert isinstance(instance.run_launcher, ForkingLauncher)
    first = launched(instance, short)
    assert ended_as(instance, first) == Status.SUCCESS
    told = process_of(instance, first)
    assert told and told[0] == int((tmp_path / "mark").read_text()) != os.getpid()
    second = launched(instance, long)
    known = process_of(instance, second)
    assert known and known[0] != told[0]
    waited(lambda: instance.get_run_step_stats(second.run_id))  # before, it would have failed
    with dg.DagsterInstance.from_ref(instance.get_ref()) as webserver:  # which has launched nothing
        assert webserver.run_launcher.terminate(second.run_id)
        assert ended_as(instance, second) == Status.CANCELED
        assert not webserver.run_launcher.terminate(second.run_id)
    waited(lambda: living(*known) is None)


def test_a_run_goes_on_without_the_nursery_and_the_next_gets_a_new_one(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    run = launched(instance, long)
    known = process_of(instance, run)
    assert known
    instance.run_launcher.dispose()
    assert living(*known) is not None
    assert ended_as(instance, launched(instance, short)) == Status.SUCCESS
    assert instance.run_launcher.terminate(run.run_id)
    assert ended_as(instance, run) == Status.CANCELED


def test_a_nursery_is_not_fit_for_code_that_changed_since(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.setattr(forked, "PACKAGE", code)
    table = code / "table.py"
    table.touch()
    os.utime(table, (2_000_000_000, 2_000_000_000))
    nursery = Nursery(instance.get_ref())
    try:
        (code / ".#table.py").symlink_to("me@here.1")  # as an editor leaves while a file is open
        assert nursery.is_fit()
        os.utime(table, (1_000_000_000, 1_000_000_000))  # an older copy was put back
        assert not nursery.is_fit()
        os.utime(table, (2_000_000_000, 2_000_000_000))
        assert nursery.is_fit()
        table.unlink()
        assert not nursery.is_fit()
    finally:
        nursery.close()
    assert not nursery.is_fit()


def test_a_run_that_is_cancelled_before_it_has_a_process_never_begins(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    origin = ReconstructableJob.for_module(__name__, short.name).get_python_origin()
    run = create_run_for_test(
        instance, job_name=short.name, job_code_origin=origin, status=Status.STARTING
    )
    assert instance.run_launcher.terminate(run.run_id)
    instance.run_launcher.launch_run(LaunchRunContext(run, None))
    known = process_of(instance, run)
    assert known
    waited(lambda: living(*known) is None)
    assert not (tmp_path / "mark").exists()


def test_a_nursery_that_cannot_import_the_code_says_why(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "confluent_kafka.py").write_text("raise SyntaxError('a slip of the pen')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ServiceError, match="SyntaxError: a slip of the pen"):
        Nursery(instance.get_ref()).fork("{}")


def test_a_nursery_ends_with_who_started_it(instance: dg.DagsterInstance) -> None:
    program = (
        "import sys, time\n"
        "from dagster._serdes import deserialize_value\n"
        "from lakehouse_assets.services.forked import Nursery\n"
        "nursery = Nursery(deserialize_value(sys.argv[1]))\n"
        "print(nursery._process.pid, flush=True)\n"
        f"time.sleep({PATIENCE_S})\n"
    )
    command = [sys.executable, "-c", program, serialize_value(instance.get_ref())]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    nursery = psutil.Process(int(starter.stdout.readline()))
    starter.kill()
    starter.wait()
    waited(lambda: not nursery.is_running() or nursery.status() == psutil.STATUS_ZOMBIE)
