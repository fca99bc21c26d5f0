"""What a tick decides, by a real Kafka and real tables; the real daemon is in integration/."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test
from pyspark.sql import DataFrame

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.table import LakeTable, raw_table
from lakehouse_assets.marts import payments_daily
from lakehouse_assets.orchestration import sensors
from lakehouse_assets.orchestration.asset import to_asset
from lakehouse_assets.orchestration.names import NEWS
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.runs import SOURCE
from lakehouse_assets.orchestration.sensors import Source, sources, tick
from lakehouse_assets.raw.payment_charges import PaymentCharges
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import CHARGES, TOPICS, Dirt, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import HOUR, hour_of, now
from lakehouse_assets_tests.support import fresh_topic
from lakehouse_assets_tests.topics.records import send

RAW, STAGING, MART = "raw.payment_charges", "staging.stg_payment_charges", "marts.payments_daily"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def topic(empty_lake: object) -> str:
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    return CHARGES


def payments(changed: dict[str, LakeTable] | None = None) -> Source:
    """What is made of charges alone: the other topics do not exist here."""
    others = tuple(t.removeprefix("payment_") for t in TOPICS if t != CHARGES)
    chosen = {n: t for n, t in (tables() | (changed or {})).items() if not n.endswith(others)}
    return next(s for s in sources(chosen) if s.group == "payments")


def events(count: int = 20) -> list[Event]:
    return list(charges(7, count, now() - timedelta(seconds=count), Dirt.none()))


def asked(answer: dg.RunRequest | dg.SkipReason) -> list[str]:
    assert isinstance(answer, dg.RunRequest), answer
    return [".".join(key.path) for key in answer.asset_selection or []]


def reason(answer: dg.RunRequest | dg.SkipReason) -> str:
    assert isinstance(answer, dg.SkipReason), answer
    return answer.skip_message or ""


def catch_up(lake: Lake, *names: str) -> None:
    for name in names or [t.name for t in payments().tables]:
        table = tables()[name]
        advance(lake, table, hour_of(now()) if table.hourly else None)


def test_a_topic_that_does_not_exist_yet_is_no_failure(
    empty_lake: object, instance: dg.DagsterInstance
) -> None:
    fresh_topic(CHARGES)
    assert f"not in Kafka yet: {CHARGES}" in reason(tick(instance, payments()))


def test_an_empty_topic_is_nothing_new(topic: str, instance: dg.DagsterInstance) -> None:
    assert reason(tick(instance, payments())) == "nothing new, lag 0 records"


def test_news_is_one_run_of_everything_downstream_for_its_hour(
    topic: str, instance: dg.DagsterInstance
) -> None:
    produce(events())
    answer = tick(instance, payments())
    assert asked(answer) == [t.name for t in payments().tables]
    assert asked(answer)[0] == RAW
    assert all(name.startswith("metadata.") for name in asked(answer)[-2:])
    assert isinstance(answer, dg.RunRequest)
    assert answer.partition_key == f"{hour_of(now()):{settings.HOUR_FORMAT}}"
    assert answer.tags == {NEWS: "true", SOURCE: "payments"}
    assert answer.run_key is None


class Quiet(PaymentCharges, name="raw.quiet"): ...


def test_a_table_that_is_not_downstream_of_the_news_is_left_alone(
    topic: str, instance: dg.DagsterInstance
) -> None:
    quiet = raw_table(Quiet, topic="no_such_topic", group="payments")
    produce(events())
    assert "raw.quiet" not in asked(tick(instance, payments({"raw.quiet": quiet})))


def test_caught_up_is_nothing_new(lake: Lake, topic: str, instance: dg.DagsterInstance) -> None:
    produce(events())
    catch_up(lake)
    assert reason(tick(instance, payments())) == "nothing new, lag 0 records"


def test_metadata_follows_a_busy_source_once_a_minute_and_an_idle_one_at_once(
    lake: Lake, topic: str, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = [t.name for t in payments().tables]
    produce(events())
    catch_up(lake)
    produce(events())
    busy = [name for name in everything if not name.startswith("metadata.")]
    assert asked(tick(instance, payments())) == busy
    catch_up(lake, *busy)
    assert asked(tick(instance, payments())) == [name for name in everything if name not in busy]
    produce(events())
    with monkeypatch.context() as patch:
        patch.setattr(sensors, "UNTOLD", -1)
        assert "metadata.check_history" in asked(tick(instance, payments()))
    monkeypatch.setattr(sensors, "METADATA_S", 0)
    assert asked(tick(instance, payments())) == everything


def test_of_two_hours_the_older_comes_first_and_is_finished_first(
    lake: Lake, topic: str, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    this_hour = hour_of(now())
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{this_hour - 30 * HOUR:{settings.HOUR_FORMAT}}")
    fresh_topic(CHARGES)
    ensure_topic(CHARGES, config={"message.timestamp.type": "CreateTime"})
    older = this_hour - 3 * HOUR
    send(CHARGES, *[e.value for e in events(5)], at=older + timedelta(minutes=5))
    send(CHARGES, *[e.value for e in events(5)], at=now())
    first = tick(instance, payments())
    assert isinstance(first, dg.RunRequest)
    assert first.partition_key == f"{older:{settings.HOUR_FORMAT}}"
    advance(lake, tables()[RAW], older)  # and there its run dies
    second = tick(instance, payments())
    assert RAW not in asked(second) and STAGING in asked(second)
    assert isinstance(second, dg.RunRequest) and second.partition_key == first.partition_key
    for table in payments().tables[1:]:
        advance(lake, table, older if table.hourly else None)
    third = tick(instance, payments())
    assert isinstance(third, dg.RunRequest)
    assert third.partition_key == f"{this_hour:{settings.HOUR_FORMAT}}"


def test_a_crash_between_two_tables_is_healed_without_news(
    lake: Lake, topic: str, instance: dg.DagsterInstance
) -> None:
    produce(events())
    catch_up(lake, RAW)
    answer = tick(instance, payments())
    assert asked(answer) == [t.name for t in payments().tables if t.name != RAW]
    every = next(s for s in sources(tables()) if s.group == "payments")  # few topics are there
    assert "metadata.quarantine" in asked(tick(instance, every))
    assert isinstance(answer, dg.RunRequest)
    assert answer.partition_key == f"{hour_of(now()):{settings.HOUR_FORMAT}}"


def test_a_crash_before_the_last_tables_is_healed_without_an_hour(
    lake: Lake, topic: str, instance: dg.DagsterInstance
) -> None:
    produce(events())
    source = payments()
    catch_up(lake, *[t.name for t in [*source.raw, *source.derived]])
    answer = tick(instance, source)
    assert asked(answer) == [t.name for t in source.about]
    assert isinstance(answer, dg.RunRequest)
    assert answer.partition_key is None


def doubled(payments: DataFrame) -> DataFrame:
    once = payments_daily.transform(payments)
    return once.unionAll(once)


def test_a_held_table_is_left_out_until_it_is_released_or_its_code_changes(
    lake: Lake, topic: str, instance: dg.DagsterInstance
) -> None:
    broken = {MART: replace(tables()[MART], transform=doubled)}
    produce(events())
    catch_up(lake, *[t.name for t in payments().tables if t.name != MART and not t.source])
    with pytest.raises(Held):
        advance(lake, broken[MART])
    catch_up(lake, *[t.name for t in payments().tables if t.layer == "metadata"])
    held = reason(tick(instance, payments(broken)))
    assert f"{MART} is held since {now():%Y-%m-%d}" in held
    assert "the transform gave one key 2 rows" in held and f"`lakehouse release {MART}`" in held
    produce(events())
    assert MART not in asked(tick(instance, payments(broken)))
    assert RAW in asked(tick(instance, payments(broken)))
    assert MART in asked(tick(instance, payments()))


def test_one_run_in_flight_is_enough(topic: str, instance: dg.DagsterInstance) -> None:
    produce(events())
    create_run_for_test(instance, status=dg.DagsterRunStatus.STARTED, tags={SOURCE: "payments"})
    assert "a run is already in flight" in reason(tick(instance, payments()))


def test_a_source_whose_runs_failed_rests(topic: str, instance: dg.DagsterInstance) -> None:
    produce(events())
    for _ in range(2):
        create_run_for_test(instance, status=dg.DagsterRunStatus.FAILURE, tags={SOURCE: "payments"})
    assert "the last 2 runs failed" in reason(tick(instance, payments()))


def test_lost_records_fail_one_run_and_are_then_told_with_the_way_out(
    lake: Lake, topic: str, instance: dg.DagsterInstance
) -> None:
    produce(events())
    catch_up(lake)
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    answer = tick(instance, payments())
    assert asked(answer) == [RAW] and isinstance(answer, dg.RunRequest)
    run = dg.materialize(
        [to_asset(tables()[RAW], [], tables())], partition_key=answer.partition_key,
        tags=answer.tags, resources={"lake": LakeResource()}, instance=instance,
        raise_on_error=False,
    )  # fmt: skip
    assert not run.success
    failed = [e.check_name for e in run.get_asset_check_evaluations() if not e.passed]
    assert failed == ["publishes"]
    assert f"`lakehouse accept-gap {RAW}`" in reason(tick(instance, payments()))


def test_kafka_down_is_a_reason_and_not_a_failed_tick(
    empty_lake: object, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    begin = time.monotonic()
    said = reason(tick(instance, payments()))
    assert "Kafka does not answer at 127.0.0.1:1" in said
    assert time.monotonic() - begin < 20
