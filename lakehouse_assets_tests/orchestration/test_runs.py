import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.test_utils import create_run_for_test

from lakehouse_assets.orchestration import runs
from lakehouse_assets.services import forked

STARTED, SUCCESS = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS
FAILURE = dg.DagsterRunStatus.FAILURE
HOURS = dg.StaticPartitionsDefinition(["one", "two"])


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        yield instance


def run_in(pid: int, instance: dg.DagsterInstance) -> dg.DagsterRun:
    run = create_run_for_test(instance, status=STARTED)
    instance.report_engine_event("Started process", run, EngineEventData.in_process(pid))
    return run


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found
    return found.status


def test_a_run_whose_process_is_gone_is_reported_failed(instance: dg.DagsterInstance) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dead, alive = run_in(child.pid, instance), run_in(os.getpid(), instance)
    assert runs.reap(instance) == []
    child.kill()
    child.wait()
    assert runs.reap(instance) == [dead.run_id]
    assert status(instance, dead) == dg.DagsterRunStatus.FAILURE
    assert status(instance, alive) == STARTED


def test_a_killed_child_that_nobody_waits_for_is_gone_too(instance: dg.DagsterInstance) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run = run_in(child.pid, instance)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and still nobody's
    assert runs.reap(instance) == [run.run_id]
    child.wait()


def test_two_sensors_that_find_one_dead_run_report_it_once(instance: dg.DagsterInstance) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run = run_in(child.pid, instance)
    child.kill()
    child.wait()
    with ThreadPoolExecutor(2) as both:
        found = list(both.map(runs.reap, [instance, instance]))
    assert sorted(map(len, found)) == [0, 1]
    told = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert len(told.records) == 1


def test_a_process_that_began_after_the_run_is_somebody_elses(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in(os.getpid(), instance)
    monkeypatch.setattr(forked, "CLOCK_S", -1_000_000)  # as if this process had begun long after
    assert runs.reap(instance) == [run.run_id]


def test_a_run_without_a_known_process_is_left_to_its_timeout(instance: dg.DagsterInstance) -> None:
    create_run_for_test(instance, status=STARTED)
    assert runs.reap(instance) == []


def materialize(instance: dg.DagsterInstance, partition: str) -> str:
    @dg.asset(partitions_def=HOURS)
    def table() -> None: ...

    return dg.materialize([table], instance=instance, partition_key=partition).run_id


def test_a_run_of_another_source_is_not_in_flight(instance: dg.DagsterInstance) -> None:
    create_run_for_test(instance, status=STARTED, tags={runs.SOURCE: "weather"})
    assert runs.in_flight(instance, "payments") == ""
    assert "already in flight" in runs.in_flight(instance, "weather")


def test_the_end_of_a_run_in_flight_is_waited_for(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = create_run_for_test(instance, status=STARTED, tags={runs.SOURCE: "payments"})
    monkeypatch.setattr(runs.time, "sleep", lambda _: instance.report_run_canceled(run))
    assert runs.in_flight(instance, "payments", patience_s=60) == ""


def test_after_one_failure_the_next_tick_tries_again_after_two_it_waits(
    instance: dg.DagsterInstance,
) -> None:
    create_run_for_test(instance, status=FAILURE, tags={runs.SOURCE: "payments"})
    assert runs.resting(instance, "payments") == ""
    create_run_for_test(instance, status=FAILURE, tags={runs.SOURCE: "payments"})
    assert "the last 2 runs failed" in runs.resting(instance, "payments")


def test_old_runs_are_pruned_but_never_a_partitions_newest(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "KEPT", 2)
    monkeypatch.setattr(runs, "PRUNED_PER_TICK", 2)
    first, only, second = [materialize(instance, p) for p in ("one", "two", "one")]
    third, newest = materialize(instance, "one"), materialize(instance, "one")
    deleted, cursor = [], ""
    for _ in range(4):
        gone, cursor = runs.prune(instance, cursor)
        deleted += gone
    assert deleted == [first, second]
    assert set(instance.get_run_ids()) == {only, third, newest}
    left = {p.name for p in Path(instance.root_directory).rglob("*") if first in p.name}
    assert left == set()


def test_failed_runs_and_those_of_the_daily_checks_are_kept_for_longer(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "KEPT", 1)
    monkeypatch.setattr(runs, "KEPT_LONGER", 2)
    failed = [create_run_for_test(instance, status=FAILURE).run_id for _ in range(3)]
    daily = {runs.SOURCE: runs.DAILY_CHECKS}
    checked = create_run_for_test(instance, status=SUCCESS, tags=daily).run_id
    fine, newest = [create_run_for_test(instance, status=SUCCESS).run_id for _ in range(2)]
    assert runs.prune(instance, "") == ([failed[0], fine], "")
    assert set(instance.get_run_ids()) == {*failed[1:], checked, newest}
    monkeypatch.setattr(runs, "LONGER", timedelta(0))
    assert runs.prune(instance, "") == ([*failed[1:], checked], "")


def test_few_runs_are_not_pruned(instance: dg.DagsterInstance) -> None:
    materialize(instance, "one")
    materialize(instance, "one")
    assert runs.prune(instance, "") == ([], "")
    assert len(instance.get_run_ids()) == 2


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204 if "refuse" not in self.path else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", heard
    server.shutdown()
    server.server_close()


def failed_run(instance: dg.DagsterInstance, error: Exception) -> dg.RunFailureSensorContext:
    @dg.op
    def marts__payments() -> None:
        raise error

    @dg.job
    def broken() -> None:
        marts__payments()

    done = broken.execute_in_process(
        instance=instance, raise_on_error=False, tags={"dagster/partition": "one"}
    )
    event = done.get_run_failure_event()
    return dg.build_run_status_sensor_context(
        "failed_runs", dagster_instance=instance, dagster_run=done.dagster_run, dagster_event=event
    ).for_run_failure()


def test_a_failed_run_is_told_to_the_url(
    instance: dg.DagsterInstance,
    listener: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, heard = listener
    monkeypatch.setenv("LAKEHOUSE_ALERT_URL", url)
    runs.failed_runs(failed_run(instance, dg.Failure("batch 3 is held")))
    (told,) = [json.loads(text) for text in heard]
    assert "hour one failed. marts.payments: Failure batch 3 is held" in told["text"]
    assert told["partition"] == "one"


def test_what_an_error_quotes_of_a_row_is_not_told(
    instance: dg.DagsterInstance,
    listener: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, heard = listener
    monkeypatch.setenv("LAKEHOUSE_ALERT_URL", url)
    runs.failed_runs(failed_run(instance, ValueError("cannot cast 'jane@example.com'")))
    assert "ValueError" in heard[0]
    assert "jane" not in heard[0]


def test_an_alert_that_is_not_taken_is_said_without_the_secret_url(
    listener: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_ALERT_URL", listener[0] + "refuse?token=hush")
    assert runs.post({}) == "alert not sent: LAKEHOUSE_ALERT_URL answered HTTPError 500"
    monkeypatch.setenv("LAKEHOUSE_ALERT_URL", "http://127.0.0.1:1/hush")
    assert runs.post({}) == "alert not sent: LAKEHOUSE_ALERT_URL answered URLError"
    monkeypatch.setenv("LAKEHOUSE_ALERT_URL", "file:///etc/passwd")
    assert "neither http nor https" in runs.post({})
