"""Dagster's history over connections that stay open: nobody else sees a difference."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from lakehouse_assets import settings
from lakehouse_assets.services import dagster, history
from lakehouse_assets.services.dagster import dagster_home
from lakehouse_assets.services.history import OPEN, Events, Runs, Schedules

PATIENCE_S = 20
KILLED = """
import os, signal, sys
from lakehouse_assets.services.history import Events
from lakehouse_assets_tests.services.test_history import said
Events(sys.argv[1]).store_event(said("run", "before the kill"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def events(tmp_path: Path) -> Iterator[Events]:
    kept = Events(str(tmp_path / "runs"))
    yield kept
    kept.dispose()


def said(run_id: str, what: str) -> EventLogEntry:
    return EventLogEntry(None, 20, what, run_id, time.time())


def told(events: SqliteEventLogStorage, run_id: str) -> list[str]:
    return [event.user_message for event in events.get_logs_for_run(run_id)]


def instance_in(folder: Path) -> dg.DagsterInstance:
    shutil.copyfile(settings.ROOT / "dagster.yaml", folder / "dagster.yaml")
    return dg.DagsterInstance.from_config(str(folder))


def test_what_is_stored_is_seen_by_dagsters_own_storage_at_once(
    events: Events, tmp_path: Path
) -> None:
    for n in range(3):
        events.store_event(said("run", f"{n}"))
    assert told(SqliteEventLogStorage(str(tmp_path / "runs")), "run") == ["0", "1", "2"]


def test_a_database_is_opened_once_whatever_is_asked_of_it(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = history._opened

    def counting(place: str) -> history.Engine:
        opened.append(place)
        return real(place)

    monkeypatch.setattr(history, "_opened", counting)
    for n in range(20):
        events.store_event(said("run", f"{n}"))
        told(events, "run")
    assert [Path(place).name for place in opened] == ["run.db"]


def test_what_a_killed_process_stored_is_there(events: Events, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "runs")]
    assert subprocess.run(command, cwd=settings.ROOT).returncode == -signal.SIGKILL
    assert told(events, "run") == ["before the kill"]


def test_who_watches_a_run_is_told_while_its_writer_has_it_open(
    events: Events, tmp_path: Path
) -> None:
    events.store_event(said("run", "before"))
    seen: list[str] = []
    watching = Events(str(tmp_path / "runs"))
    watching.watch("run", None, lambda event, _: seen.append(event.user_message))
    try:
        for n in range(3):
            events.store_event(said("run", f"{n}"))
            deadline = time.monotonic() + PATIENCE_S
            while f"{n}" not in seen:
                assert time.monotonic() < deadline
                time.sleep(0.01)
    finally:
        watching.dispose()
    assert seen == ["before", "0", "1", "2"]


def test_few_databases_stay_open_and_all_can_be_read(events: Events) -> None:
    runs = [f"run {n}" for n in range(2 * OPEN)]
    for run in runs:
        events.store_event(said(run, "it"))
    assert [told(events, run) for run in runs] == [["it"]] * len(runs)
    assert len(events._kept._engines) == OPEN


def test_a_deleted_run_takes_no_event_with_it(events: Events, tmp_path: Path) -> None:
    events.store_event(said("run", "it"))
    Path(events.path_for_shard("run")).unlink()
    events.store_event(said("run", "late"))
    events.store_event(said("other", "it"))
    assert told(events, "other") == ["it"]


def place_of(instance: dg.DagsterInstance) -> Path:
    events = instance.event_log_storage
    assert isinstance(events, Events)
    return Path(events.path_for_shard("run")).parent


def test_the_instance_lies_where_dagster_is_told_and_else_beside_the_lakes_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "lake"))
    for home, place in ((str(tmp_path / "told"), "told"), ("", "lake/dagster-dev")):
        monkeypatch.setenv("DAGSTER_HOME", home)
        with instance_in(tmp_path) as instance:
            kinds = (instance.event_log_storage, instance.run_storage, instance.schedule_storage)
            assert [type(kind) for kind in kinds] == [Events, Runs, Schedules]
            assert place_of(instance) == tmp_path / place / "history/runs"


@pytest.mark.parametrize("home", ["", "/elsewhere"])
def test_who_looks_at_the_lakes_own_finds_it_whatever_dagster_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", home)
    dagster_home().mkdir()
    shutil.copyfile(settings.ROOT / "dagster.yaml", dagster_home() / "dagster.yaml")
    with dagster.instance() as instance:
        assert place_of(instance) == tmp_path / "dagster/history/runs"
    assert os.environ["DAGSTER_HOME"] == home


def test_a_run_and_its_checks_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dg.asset(check_specs=[dg.AssetCheckSpec("good", asset="thing")])
    def thing() -> Iterator[dg.Output[None] | dg.AssetCheckResult]:
        yield dg.Output(None)
        yield dg.AssetCheckResult(passed=True)

    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with instance_in(tmp_path) as instance:
        run_id = dg.materialize([thing], instance=instance).run_id
    with instance_in(tmp_path) as instance:
        run = instance.get_run_by_id(run_id)
        assert run and run.status is dg.DagsterRunStatus.SUCCESS
        kinds = [e.dagster_event_type for e in instance.all_logs(run_id) if e.is_dagster_event]
        assert DagsterEventType.ASSET_CHECK_EVALUATION in kinds
        key = dg.AssetCheckKey(dg.AssetKey("thing"), "good")
        records = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
        assert records[key].status.value == "SUCCEEDED"
