"""Runs that cannot do their work: what is said of it, by real runs without what they need."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands import glance
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import is_fresh
from lakehouse_assets.orchestration.asset import to_asset
from lakehouse_assets.orchestration.names import NEWS
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.sensors import sources, tick
from lakehouse_assets.sources.payments import CHARGES, Dirt, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets.topics.position import RecordsLost
from lakehouse_assets_tests.support import fresh_topic

RAW = "raw.payment_charges"


@pytest.fixture
def charges_sent(empty_lake: Path) -> Iterator[None]:
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    produce(charges(7, 20, now() - timedelta(seconds=20), Dirt.none()))
    yield
    fresh_topic(CHARGES)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def failure(instance: dg.DagsterInstance, table: LakeTable) -> str:
    """What the failed step says, which the UI shows first."""
    run = dg.materialize(
        [to_asset(table, [], {table.name: table})],
        partition_key=f"{hour_of(now()):{settings.HOUR_FORMAT}}", tags={NEWS: "true"},
        resources={"lake": LakeResource()}, instance=instance,
        raise_on_error=False,
    )  # fmt: skip
    assert not run.success
    (step,) = [e for e in run.all_events if e.is_step_failure]
    error = step.step_failure_data.error
    assert error is not None and error.cls_name == "Failure", error
    return str(error.message)


def test_a_run_whose_spark_does_not_answer_says_where_and_how_to_start_it(
    charges_sent: None, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_SPARK_REMOTE", "sc://127.0.0.1:1/;token=s3cret")
    begin = time.monotonic()
    said = failure(instance, tables()[RAW])
    assert "sc://127.0.0.1:1/ does not answer" in said
    assert "start it, or unset LAKEHOUSE_SPARK_REMOTE" in said and "s3cret" not in said
    assert time.monotonic() - begin < 20


def test_a_run_whose_kafka_does_not_answer_says_where_and_how_to_start_it(
    empty_lake: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    said = failure(instance, tables()[RAW])
    assert "Kafka does not answer at 127.0.0.1:1" in said and "`lakehouse up kafka`" in said


def test_a_run_that_cannot_write_says_where(
    charges_sent: None,
    empty_lake: Path,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = empty_lake / "file"
    file.write_text("nothing can be made below a file, not even by root")
    monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", str(file / "warehouse"))
    said = failure(instance, tables()[RAW])
    assert f"{file}/warehouse" in said and "Not a directory. Let this user write there" in said


def test_a_topic_that_is_gone_after_it_was_read_fails_one_run_and_is_then_told(
    charges_sent: None, lake: Lake, instance: dg.DagsterInstance
) -> None:
    raw = tables()[RAW]
    advance(lake, raw, hour_of(now()))
    (source,) = sources({RAW: raw})
    assert isinstance(tick(instance, source), dg.SkipReason)
    fresh_topic(CHARGES)
    answer = tick(instance, source)
    assert isinstance(answer, dg.RunRequest), answer
    said = failure(instance, raw)
    assert f"topic {CHARGES} is gone; the table has read up to partition 0: " in said
    assert f"`lakehouse topic {CHARGES}`" in said and f"`lakehouse accept-gap {RAW}`" in said
    again = tick(instance, source)
    assert isinstance(again, dg.SkipReason) and f"topic {CHARGES} is gone" in str(again)
    with pytest.raises(RecordsLost, match="is gone"):
        is_fresh(lake, raw, lake.catalog.head(RAW))
    assert "its topic is gone" in glance.glances()[RAW].note
