"""What becomes of runs: one a source at a time, dead ones reported, old pruned, failures told.

A run's process can vanish without a word, and Dagster would believe the run to be going on for
ever. Here the operating system is asked.
"""

import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from itertools import takewhile
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterRunStatus as Status

from lakehouse_assets import trouble
from lakehouse_assets.services.forked import living, process_of

SOURCE = "lakehouse/source"  # run tag: whose run it is; Dagster's queue and the sensors count by it
FINISHED = [Status.SUCCESS, Status.FAILURE, Status.CANCELED]
UNFINISHED = [
    Status.QUEUED, Status.NOT_STARTED, Status.STARTING, Status.STARTED, Status.CANCELING,
]  # fmt: skip
WITH_PROCESS = [Status.STARTING, Status.STARTED]

LOOKED_AT = 50  # unfinished runs in one pass
LOOK_AGAIN_S = 0.2
FIRST_REST_S, LONGEST_REST_S = 10, 300
_reaping = threading.Lock()  # the sensors of one code server tick side by side

KEPT = 500  # runs that are never pruned
# What one comes back to after a night or a holiday: failed runs, and those of the daily checks.
KEPT_LONGER, LONGER = 1_000, timedelta(days=14)  # at most so many of each kind
DAILY_CHECKS = "data_quality"  # the job that executes every check, and the source of its runs
PRUNED_PER_TICK = 25
ALERT_S = 5
# Errors of ours hold counts and names. Others may quote a row: only their kind is told.
SAYABLE = {"Failure", *(name.rpartition(".")[2] for name in trouble.KNOWN)}


def in_flight(instance: dg.DagsterInstance, source: str, patience_s: float = 0) -> str:
    """The run of a source that is still not over after that time, in words; empty if none is."""
    deadline = time.monotonic() + patience_s
    unfinished = dg.RunsFilter(tags={SOURCE: source}, statuses=UNFINISHED)
    while going := instance.get_runs(unfinished, limit=1):
        if time.monotonic() >= deadline:
            status = going[0].status.value.lower()
            return f"a run is already in flight: {going[0].run_id[:8]}, {status}"
        time.sleep(LOOK_AGAIN_S)
    return ""


def resting(instance: dg.DagsterInstance, source: str) -> str:
    """After one failure the next tick tries again; after more it waits, longer each time."""
    records = instance.get_run_records(dg.RunsFilter(tags={SOURCE: source}), limit=8)
    failed = list(takewhile(lambda r: r.dagster_run.status == Status.FAILURE, records))
    if len(failed) < 2:
        return ""
    rest = min(FIRST_REST_S * 2 ** (len(failed) - 2), LONGEST_REST_S)
    over = (failed[0].end_time or failed[0].create_timestamp.timestamp()) + rest
    if time.time() >= over:
        return ""
    return (
        f"the last {len(failed)} runs failed, the newest is {failed[0].dagster_run.run_id[:8]}; "
        f"the next try is in {over - time.time():.0f} s (a run started by hand does not wait)"
    )


def reap(instance: dg.DagsterInstance) -> list[str]:
    """Report runs as failed whose process is gone, so that they hold no slot and can be redone."""
    going = instance.get_runs(dg.RunsFilter(statuses=WITH_PROCESS), limit=LOOKED_AT)
    gone = [run.run_id for run in going if _process_gone(instance, run)]
    reaped = []
    with _reaping:  # a failure that is reported twice is told twice
        for run_id in gone:
            run = instance.get_run_by_id(run_id)
            if run is not None and run.status in WITH_PROCESS:
                instance.report_run_failed(run, "The run's process is gone: killed or crashed.")
                reaped.append(run_id)
    return reaped


def _process_gone(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Known to be dead, not merely unknown: a run on another machine is that machine's business,
    and run monitoring bounds how long one may take to begin.
    """
    known = process_of(instance, run)
    return known is not None and living(*known) is None


def prune(instance: dg.DagsterInstance, cursor: str) -> tuple[list[str], str]:
    """Delete some old runs, going on where `cursor` says; returns them and where to go on.

    A run's materializations go with it, so the newest run of every partition stays.
    """
    newest = set(instance.get_run_ids(limit=KEPT))
    if len(newest) < KEPT:
        return [], ""
    after = datetime.fromtimestamp(float(cursor), timezone.utc) if cursor else None
    old = instance.get_run_records(
        dg.RunsFilter(statuses=FINISHED, created_after=after), limit=PRUNED_PER_TICK, ascending=True
    )
    longer = _kept_longer(instance)
    deleted: list[str] = []
    for record in old:
        run_id = record.dagster_run.run_id
        if run_id in newest:
            return deleted, ""
        cursor = str(record.create_timestamp.timestamp())
        if run_id not in longer and not _is_newest_of_a_partition(instance, run_id):
            _delete(instance, run_id)
            deleted.append(run_id)
    return deleted, cursor if len(old) == PRUNED_PER_TICK else ""


def _kept_longer(instance: dg.DagsterInstance) -> set[str]:
    since = datetime.now(timezone.utc) - LONGER
    kinds = [
        dg.RunsFilter(statuses=[Status.FAILURE], created_after=since),
        dg.RunsFilter(tags={SOURCE: DAILY_CHECKS}, created_after=since),
    ]
    return {run_id for kind in kinds for run_id in instance.get_run_ids(kind, limit=KEPT_LONGER)}


def _is_newest_of_a_partition(instance: dg.DagsterInstance, run_id: str) -> bool:
    made = instance.get_records_for_run(
        run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
    ).records
    for event in made:
        what = event.asset_materialization
        if what is None:
            continue
        partitions = [what.partition] if what.partition else None
        wanted = dg.AssetRecordsFilter(asset_key=what.asset_key, asset_partitions=partitions)
        newest = instance.fetch_materializations(wanted, limit=1).records
        if newest and newest[0].run_id == run_id:
            return True
    return False


def _delete(instance: dg.DagsterInstance, run_id: str) -> None:
    """Dagster leaves the run's logs and, on SQLite, the file its events were in."""
    instance.delete_run(run_id)
    instance.compute_log_manager.delete_logs(prefix=[run_id])
    path_for_shard = getattr(instance.event_log_storage, "path_for_shard", None)
    if path_for_shard is not None:
        for end in ("", "-wal", "-shm"):
            Path(path_for_shard(run_id) + end).unlink(missing_ok=True)


@dg.sensor(
    name="old_runs",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Reports dead runs; prunes all but {KEPT}, the newest of each partition, and for "
    f"{LONGER.days} days the failed ones and those of {DAILY_CHECKS}.",
)
def old_runs(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    reaped = reap(context.instance)
    deleted, cursor = prune(context.instance, context.cursor or "")
    return dg.SensorResult(
        skip_reason=f"{len(reaped)} dead runs reported, {len(deleted)} old runs deleted",
        cursor=cursor,
    )


@dg.run_failure_sensor(
    name="failed_runs",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Logs every failed run and posts it to LAKEHOUSE_ALERT_URL, if that is set.",
)
def failed_runs(context: dg.RunFailureSensorContext) -> None:
    steps = [
        (event.step_key or "", event.step_failure_data.error)
        for event in context.get_step_failure_events()
    ]
    alert = alert_of(context.dagster_run, steps, context.failure_event.message or "")
    context.log.error(alert["text"])
    if problem := post(alert):
        context.log.error(problem)


def alert_of(run: dg.DagsterRun, steps: Sequence[tuple[str, Any]], why: str) -> dict[str, Any]:
    """What is said of a failed run: no row, no stack, no setting."""
    failed = [{"step": step.replace("__", ".", 1)} | _said(error) for step, error in steps]
    partition = run.tags.get("dagster/partition", "")
    what = "; ".join(f"{f['step']}: {f['error']} {f['message']}".strip() for f in failed)
    where = f" of {run.tags[SOURCE]}" if SOURCE in run.tags else ""
    hour = f", hour {partition}" if partition else ""
    text = f"Run {run.run_id[:8]}{where}{hour} failed. {what or why.splitlines()[0][:500]}"
    return {
        "text": text,
        "run_id": run.run_id,
        "source": run.tags.get(SOURCE, ""),
        "partition": partition,
        "failed": failed,
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _said(error: Any) -> dict[str, str]:
    """The error that began it, which Dagster wraps in one of its own."""
    while error is not None and error.cause is not None and error.cls_name not in SAYABLE:
        error = error.cause
    if error is None:
        return {"error": "", "message": ""}
    name = error.cls_name or "error"
    message = error.message.split(": ", 1)[-1].strip()[:1000] if name in SAYABLE else ""
    return {"error": name, "message": message or "(the run's log says more)"}


def post(alert: dict[str, Any]) -> str:
    """Send it to LAKEHOUSE_ALERT_URL; returns what went wrong, without the URL: it is a secret."""
    url = os.environ.get("LAKEHOUSE_ALERT_URL", "")
    if not url:
        return ""
    if not url.startswith(("http://", "https://")):
        return "alert not sent: LAKEHOUSE_ALERT_URL is neither http nor https"
    body = json.dumps(alert).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=ALERT_S):
            return ""
    except (urllib.error.URLError, TimeoutError, OSError, ValueError) as error:
        code = getattr(error, "code", "")
        return f"alert not sent: LAKEHOUSE_ALERT_URL answered {type(error).__name__} {code}".strip()
