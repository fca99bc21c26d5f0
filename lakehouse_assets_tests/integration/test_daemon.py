"""Dagster's own daemon, code server, queue and run processes on this code: nothing is faked."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep

import dagster as dg
import psutil
import pytest

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.orchestration.runs import SOURCE
from lakehouse_assets.orchestration.sensors import look, sources
from lakehouse_assets.sources.payments import CHARGES, Dirt, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.integration.test_payments import check_against_truth
from lakehouse_assets_tests.support import fresh_topic

RUN_S = 600  # from records in Kafka to a finished run: a minute, or far more on a busy machine
TICKS_S = 240
SUCCESS, FAILURE = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE
STARTED = dg.DagsterRunStatus.STARTED


@pytest.fixture
def home(empty_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Dagster home with the project's dagster.yaml; the topic is there and empty."""
    home = tmp_path / "dagster home"
    home.mkdir()
    shutil.copy(settings.ROOT / "dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    return home


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.get() as instance:
        yield instance


@contextmanager
def daemon(home: Path, **env: str) -> Iterator[psutil.Process]:
    workspace = str(settings.ROOT / "workspace.yaml")
    with (home / "daemon.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "dagster._daemon", "run", "-w", workspace],
            env=os.environ | env, cwd=settings.ROOT, stdout=log, stderr=log,
        )  # fmt: skip
    process = psutil.Process(child.pid)
    try:
        yield process
    finally:
        kill(process)
        child.wait(10)


def kill(process: psutil.Process) -> None:
    """The daemon, its code server and its runs, at once and without a chance to tell."""
    if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
        return
    for one in [process, *process.children(recursive=True)]:
        try:
            one.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def eventually(what: str, holds: Callable[[], bool], seconds: float, home: Path) -> None:
    deadline = monotonic() + seconds
    while not holds():
        tail = (home / "daemon.log").read_text(errors="replace")[-3_000:]
        assert monotonic() < deadline, f"not within {seconds} s: {what}\n{tail}"
        sleep(0.1)


def runs(instance: dg.DagsterInstance, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
    """Those of payments: other sources look for themselves."""
    ours = dg.RunsFilter(statuses=list(statuses), tags={SOURCE: "payments"})
    return list(instance.get_runs(ours))


def ticks(instance: dg.DagsterInstance) -> int:
    """How often the source's sensor has looked and found nothing to do."""
    states = [s for s in instance.all_instigator_state() if s.instigator_name == "payments_news"]
    told = [t for s in states for t in instance.get_ticks(s.instigator_origin_id, s.selector_id)]
    return sum("nothing new" in (t.skip_reason or "") for t in told)


def is_caught_up() -> bool:
    source = next(s for s in sources(tables()) if s.group == "payments")
    return not look(source).tables


def commits() -> dict[str, int]:
    return {name: head.stamp.commit for name, head in Catalog().heads().items()}


def send(count: int, seed: int) -> None:
    produce(list(charges(seed, count, now() - timedelta(seconds=count), Dirt(duplicate=0.1))))


def test_the_daemon_carries_news_to_the_mart_and_an_empty_tick_does_nothing(
    home: Path, instance: dg.DagsterInstance
) -> None:
    send(500, seed=7)
    with daemon(home):
        eventually("a run succeeds", lambda: bool(runs(instance, SUCCESS)), RUN_S, home)
        eventually("nothing is left to do", is_caught_up, RUN_S, home)
        check_against_truth()
        run, *later = runs(instance)  # more than one, if it came over the turn of an hour
        assert run.tags["dagster/partition"]
        assert run.tags[SOURCE] == "payments"
        assert run.tags["dagster/sensor_name"] == "payments_news"
        done, looked = commits(), ticks(instance)
        eventually("two empty ticks", lambda: ticks(instance) >= looked + 2, TICKS_S, home)
        assert len(runs(instance)) == 1 + len(later)
        assert commits() == done


def test_killed_runs_are_noticed_and_done_again_even_if_all_of_dagster_dies_with_them(
    home: Path, instance: dg.DagsterInstance
) -> None:
    send(500, seed=8)
    with daemon(home, LAKEHOUSE_KILL_AT="publish@staging.stg_payment_charges") as doomed:
        eventually("the killed run is noticed", lambda: bool(runs(instance, FAILURE)), RUN_S, home)
        eventually("it is tried again", lambda: bool(runs(instance, STARTED)), RUN_S, home)
        kill(doomed)
    (orphan,) = runs(instance, STARTED)
    with daemon(home):
        eventually("a run succeeds", lambda: bool(runs(instance, SUCCESS)), RUN_S, home)
        eventually("nothing is left to do", is_caught_up, RUN_S, home)
    check_against_truth()
    noticed = instance.get_run_by_id(orphan.run_id)
    assert noticed and noticed.status == FAILURE
