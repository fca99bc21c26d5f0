"""Defects found while the engine's tests were written; each test fails until its defect is gone."""

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.lake import catalog as catalogs
from lakehouse_assets.lake import ingest, schema
from lakehouse_assets.lake import publish as publishing
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.audit import audit
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.contract import (
    Layout,
    RawTable,
    Rule,
    Table,
    column,
    column_rules,
    newest,
    recompute_all,
    recompute_keys,
)
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.kafka import Topic, hour_of, now
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.scope import next_stamp
from lakehouse_assets.lake.table import LakeTable, raw_table, table_asset
from lakehouse_assets_tests.lake.tables import (
    DAILY,
    EVENTS,
    LATEST,
    TOTALS,
    Events,
    Latest,
    add,
    admin,
    daily_of,
    day,
    event,
    latest_of,
    make_topic,
    notes,
    producer,
    send,
)
from lakehouse_assets_tests.support import stored


class Staged(Latest, name="staging.stg_bare"):
    """staging.stg_bare: one row per id; amounts above 100 are refused."""

    refuses = True


STAGED = table_asset(Staged, latest_of, events=EVENTS)


# --- two writers


def test_a_run_whose_branch_was_dropped_by_a_faster_one_makes_its_batch_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(3, "a", 2, 4))
    slow, write, raced = Lake(run="slow"), publishing._write, []

    def late(mine: Lake, *args: Any) -> Any:
        if mine is slow and not raced:
            raced.append(advance(lake, LATEST))
        return write(mine, *args)

    monkeypatch.setattr(publishing, "_write", late)
    try:
        advance(slow, LATEST)
    finally:
        slow.close()
    assert [(r["id"], r["amount"]) for r in stored("bare.latest")] == [("a", 4), ("b", 2)]
    assert lake.catalog.head("bare.latest").stamp.commit == 2


def test_two_first_runs_of_a_table_may_make_it_at_once(lake: Lake) -> None:
    lake.catalog.iceberg.create_namespace_if_not_exists("bare")
    gate, failed = threading.Barrier(4), []

    def make() -> None:
        own = Catalog()
        own.iceberg  # noqa: B018
        gate.wait()
        try:
            own.ensure(Latest)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert failed == []
    assert (lake.catalog.head("bare.latest").stamp.commit, lake.catalog.head("bare.latest").rows) == (0, 0)


# --- time


@pytest.mark.parametrize("year", ["0001", "0999"])
def test_an_ancient_timestamp_does_not_stop_a_table(lake: Lake, year: str) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b", at=datetime(int(year), 1, 1, tzinfo=UTC)), stated=False)
    advance(lake, LATEST)
    assert [r["id"] for r in stored("bare.latest")] == ["a", "b"]


def test_the_end_of_time_does_not_stop_a_table(lake: Lake) -> None:
    forever = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    add(lake, EVENTS, event(1, "a"), event(2, "b", at=forever), stated=False)
    advance(lake, LATEST)
    assert [r["id"] for r in stored("bare.latest")] == ["a", "b"]


def test_a_null_timestamp_does_not_double_its_key(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", at=None), event(2, "b"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(3, "a", 2, at=None), event(4, "b"))
    advance(lake, LATEST)
    assert [r["id"] for r in stored("bare.latest")] == ["a", "b"]


def test_days_agree_with_a_rebuild_about_rows_without_a_timestamp(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", at=None), event(2, "b"))
    advance(lake, DAILY)
    increments = stored("bare.daily")
    rebuild(lake, DAILY)
    assert increments == stored("bare.daily")


def test_a_key_that_moved_to_another_day_is_found_by_the_audit(lake: Lake) -> None:
    """A key's time must not change: what breaks that stands twice, and the key's check says so."""
    add(lake, EVENTS, event(1, "a"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(2, "a", 2, at=day(2)))
    advance(lake, LATEST)
    assert audit(lake, LATEST, []).repeated_keys == 1


def test_a_null_key_does_not_hold_the_second_batch(lake: Lake) -> None:
    add(lake, EVENTS, event(1, None), event(2, "b"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(3, None, 2, 6))
    advance(lake, LATEST)
    assert [(r["id"], r["amount"]) for r in stored("bare.latest")] == [("b", 2), (None, 6)]


# --- removal


class TotalsCopy(Table, name="bare.totals_copy"):
    """bare.totals_copy: one row per row of bare.totals."""

    id = column("string", "Whose.", key=True, nullable=True)
    at = column("timestamp", "When, UTC.")
    total = column("bigint", "Sum of amounts.")
    layout = Layout(scope=recompute_keys(at="at"))


def test_a_row_that_left_a_table_of_keys_leaves_its_children_too(lake: Lake) -> None:
    copy = table_asset(TotalsCopy, lambda totals: totals.select("id", "at", "total"), totals=TOTALS)
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    for table in (TOTALS, copy):
        advance(lake, table)
    add(lake, EVENTS, event(3, "a", amount=-2))
    for table in (TOTALS, copy):
        advance(lake, table)
    assert [r["id"] for r in stored("bare.totals")] == ["b"]
    assert [r["id"] for r in stored("bare.totals_copy")] == ["b"]


# --- two parents


class Names(Table, name="bare.names"):
    """bare.names: one row per id; has no time."""

    id = column("string", "Whose.", key=True)
    label = column("string", "Its name.")


class Named(Table, name="bare.named"):
    """bare.named: one row per id that has a name."""

    id = column("string", "Whose.", key=True)
    at = column("timestamp", "When, UTC.")
    label = column("string", "Its name.")
    layout = Layout(scope=recompute_keys(at="at"))


def test_news_in_a_parent_without_time_reaches_the_child(lake: Lake) -> None:
    def join(events: DataFrame, names: DataFrame) -> DataFrame:
        whose = events.groupBy("id").agg({"at": "min"}).withColumnRenamed("min(at)", "at")
        return whose.join(names, "id", how="inner").select("id", "at", "label")

    named = LakeTable(Names, "bare")
    child = table_asset(Named, join, events=EVENTS, names=named)
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    add(lake, named, {"id": "a", "label": "Ann"}, stated=False)
    advance(lake, child)
    add(lake, named, {"id": "b", "label": "Bob"}, stated=False)
    advance(lake, child)
    assert [r["label"] for r in stored("bare.named")] == ["Ann", "Bob"]


# --- schema


class WiderEvents(Events, name="bare.events"):
    """bare.events: one row per delivery, with its colour."""

    colour = column("string", "Which colour.", nullable=True)
    amount = column("bigint", "How much.", nullable=True)


class WiderLatest(Latest, name="bare.latest"):
    """bare.latest: one row per id, with its colour."""

    colour = column("string", "Which colour.", nullable=True)
    amount = column("bigint", "How much.", nullable=True)


def test_a_new_column_and_a_wider_type_reach_a_table_that_has_rows(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    advance(lake, LATEST)
    events = LakeTable(WiderEvents, "bare")
    latest = table_asset(
        WiderLatest,
        lambda events: events.select("id", "at", "version", "amount", "arrived_at", "colour"),
        events=events,
    )
    add(lake, events, event(3, "a", 2, 4, colour="red"))
    advance(lake, latest)
    assert [(r["id"], r["amount"], r["colour"]) for r in stored("bare.latest")] == [
        ("a", 4, "red"), ("b", 2, None),
    ]  # fmt: skip


def test_a_child_may_use_a_parents_new_column_before_the_parent_has_news(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    events = LakeTable(WiderEvents, "bare")
    lake.catalog.ensure(WiderEvents)
    latest = table_asset(
        WiderLatest,
        lambda events: events.select("id", "at", "version", "amount", "arrived_at", "colour"),
        events=events,
    )
    advance(lake, latest)
    assert [(r["id"], r["colour"]) for r in stored("bare.latest")] == [("a", None)]


def test_a_new_column_that_must_not_be_null_is_refused(lake: Lake) -> None:
    class Strict(Latest, name="bare.latest"):
        """bare.latest: one row per id."""

        colour = column("string", "Which colour.")

    add(lake, EVENTS, event(1, "a"))
    advance(lake, LATEST)
    with pytest.raises(schema.SchemaRefused, match="colour"):
        lake.catalog.ensure(Strict)


def test_another_partitioning_is_refused(lake: Lake) -> None:
    class Moved(Latest, name="bare.latest"):
        """bare.latest: one row per id."""

        layout = Layout(partitioned_by="hours(at)", scope=newest(by="version", at="at"))

    lake.catalog.ensure(Latest)
    with pytest.raises(schema.SchemaRefused, match="partition"):
        lake.catalog.ensure(Moved)


def test_a_column_called_name_is_kept_or_refused_aloud() -> None:
    try:

        class People(Table, name="bare.people"):
            """bare.people: one row per person."""

            id = column("string", "Who.", key=True)
            name = column("string", "What they are called.")

    except (TypeError, ValueError):
        return
    assert list(People.columns) == ["id", "name"]


# --- quality


def test_rule_names_are_names_that_dagster_takes() -> None:
    for rule in column_rules("latitude", column("double", "Degrees.", ge=-90, le=90)):
        assert re.fullmatch(r"[A-Za-z0-9_]+", rule.name), rule.name


def test_a_stated_set_may_hold_an_apostrophe(lake: Lake) -> None:
    (rule,) = column_rules("x", column("string", "x", nullable=True, isin=("d'or", "a")))
    frame = lake.spark.createDataFrame([("d'or",), ("b",)], "x string")
    assert [r["x"] for r in frame.where(rule.passes()).collect()] == ["d'or"]


def test_a_new_rule_is_counted_over_the_rows_that_are_there(lake: Lake) -> None:
    class Ruled(Latest, name="bare.latest"):
        """bare.latest: one row per id."""

        rules = (Rule("small", "amount < 10"),)

    add(lake, EVENTS, event(1, "a", amount=20), event(2, "b"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(3, "c"))
    outcome = advance(lake, table_asset(Ruled, latest_of, events=EVENTS))
    assert outcome.tally is not None and outcome.tally["failed"]["small"] == 1


def test_a_task_that_ran_twice_does_not_hold_a_merge(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(3, "a", 2, 4))
    write = publishing._write
    twice = {"copies", *()}
    monkeypatch.setattr(
        publishing,
        "_write",
        lambda *a: {k: v if k in twice else 2 * v for k, v in write(*a).items()},
    )
    outcome = advance(lake, LATEST)
    assert outcome.tally is not None and outcome.tally["rows"] == 2


def test_a_task_that_ran_twice_does_not_fail_a_staging_table(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b", amount=101))
    write = publishing._write
    monkeypatch.setattr(
        publishing,
        "_write",
        lambda *a: {k: v if k == "copies" else 2 * v for k, v in write(*a).items()},
    )
    outcome = advance(lake, STAGED, hour_of(now()))
    assert outcome.tally is not None
    assert (outcome.tally["read"], outcome.tally["refused"]) == (2, 1)


class StagedAll(Latest, name="staging.stg_all"):
    """staging.stg_all: one row per id; recomputed whole."""

    refuses = True

    layout = Layout(scope=recompute_all())


def test_a_refusing_table_that_is_recomputed_counts_each_refusal_once(lake: Lake) -> None:
    table = table_asset(StagedAll, latest_of, events=EVENTS)
    hour = hour_of(now())
    add(lake, EVENTS, event(1, "a"), event(2, "b", amount=101))
    advance(lake, table, hour)
    add(lake, EVENTS, event(3, "c"))
    outcome = advance(lake, table, hour)
    assert outcome.tally is not None
    assert (outcome.tally["read"], outcome.tally["refused"]) == (3, 1)


# --- held


def test_a_held_table_tries_again_on_new_input(lake: Lake) -> None:
    def doubled(events: DataFrame) -> DataFrame:
        rows = latest_of(events)
        return rows.unionAll(rows.where("id = 'a' and version = 1"))

    class Whole(Latest, name="bare.whole"):
        """bare.whole: one row per id."""

        layout = Layout(scope=recompute_all())

    def newest_doubled(events: DataFrame) -> DataFrame:
        top = events.groupBy("id").agg({"version": "max"}).withColumnRenamed("max(version)", "v")
        rows = events.join(top.withColumnRenamed("id", "i"), events.id == top.id, how="inner")
        return doubled(events.join(top, "id", how="inner").where("version = v")) if rows else rows

    table = table_asset(Whole, newest_doubled, events=EVENTS)
    add(lake, EVENTS, event(1, "a"))
    with pytest.raises(publishing.Held):
        advance(lake, table)
    add(lake, EVENTS, event(2, "a", 2))
    advance(lake, table)
    assert [(r["id"], r["version"]) for r in stored("bare.whole")] == [("a", 2)]


# --- Kafka


def raw(lake: Lake, topic: str, contract: type[RawTable] | None = None) -> list[dict[str, Any]]:
    table = raw_table(contract, topic=topic, group="bare") if contract else notes(topic)
    advance(lake, table, hour_of(now()))
    rows = lake.at(lake.catalog.head(table.name)).orderBy("kafka_offset").collect()
    return [r.asDict(recursive=True) for r in rows]


def test_two_objects_in_one_record_are_malformed(lake: Lake) -> None:
    topic = make_topic("found_two_objects")
    send(topic, b'{"id": "a"} {"id": "b"}', b'{"id": "a"} rubbish')
    assert [r["_error"] for r in raw(lake, topic)] == ["malformed", "malformed"]


class Boxes(RawTable, name="raw.boxes"):
    """raw.boxes: one row per record."""

    id = column("string", "Whose.")
    box = column("struct<n:int,s:string>", "Not only texts.")
    list = column("array<struct<n:int>>", "Several.")


def test_an_unknown_field_inside_an_object_of_numbers_keeps_the_payload(lake: Lake) -> None:
    topic = make_topic("found_nested")
    send(topic, b'{"id": "a", "box": {"n": 1, "s": "x", "new": 2}}')
    assert raw(lake, topic, Boxes)[0]["_payload"] is not None


def test_a_timestamp_that_overflows_is_an_error_not_another_time(lake: Lake) -> None:
    topic = make_topic("found_overflow")
    send(topic, b'{"id": "a", "made_at": 1700000000000000}')
    (row,) = raw(lake, topic)
    assert row["_error"] == "wrong type", row


def test_offsets_that_went_back_are_a_loss() -> None:
    stamp = Stamp(1, 1, {"topic_id": "x", "generation": 0, "next": {"0": 10}})
    topic = Topic("t", "x", {0: 0}, {0: 5})
    with pytest.raises(ingest.RecordsLost):
        ingest.position(Head("raw.t", 1, stamp, 10, 0), topic)


def test_an_hours_tally_survives_work_on_another_hour(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, hour = make_topic("found_tally", timestamps="producer"), hour_of(now())
    before = hour - timedelta(hours=1)
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{before:%Y-%m-%d-%H:%M}")
    send(topic, b'{"id": "a"}', at=before)
    send(topic, b"bad", at=hour)
    for h in (before, hour):
        advance(lake, notes(topic), h)
    advance(lake, notes(topic), before, anew=True)
    send(topic, b'{"id": "b"}', at=hour)
    tally = advance(lake, notes(topic), hour).tally
    assert tally is not None and (tally["rows"], tally["failed"]["parses"]) == (2, 1)


def test_an_hour_that_was_compacted_is_not_rebuilt_from_what_is_left(lake: Lake) -> None:
    import time

    topic = make_topic(
        "found_compacted", cleanup_policy="compact", segment_ms="200",
        min_cleanable_dirty_ratio="0.01", max_compaction_lag_ms="200", min_compaction_lag_ms="0",
    )  # fmt: skip
    for n in range(4):
        send(topic, b'{"id": "a", "count": %d}' % n, key="a")
        time.sleep(0.4)
    table = notes(topic)
    advance(lake, table, hour_of(now()))
    kept = len(stored("raw.notes"))
    deadline = time.monotonic() + 60
    from lakehouse_assets_tests.support import read_back  # noqa: F401

    while time.monotonic() < deadline and _visible(topic) == 4:
        time.sleep(0.5)
        send(topic, b'{"id": "b"}', key="b")
    assert _visible(topic) != 4
    with pytest.raises(ingest.RecordsLost):
        advance(lake, table, hour_of(now()), anew=True)
    assert len(stored("raw.notes")) >= kept


def _visible(topic: str) -> int:
    from confluent_kafka import Consumer, TopicPartition

    from lakehouse_assets import settings

    consumer = Consumer(
        {"bootstrap.servers": settings.kafka_bootstrap(), "group.id": "t", "enable.partition.eof": True}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = 0
    while True:
        message = consumer.poll(10)
        if message is None or message.error():
            break
        found += message.key() == b"a"
    consumer.close()
    return found


UNUSED = (catalogs, TOTALS, admin, daily_of, producer, newest)


# --- found later


def test_a_table_whose_first_commit_was_never_made_is_finished_by_the_next_run(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process died between the creation of the table and its empty commit 0."""

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(catalogs.IcebergTable, "append", killed)
        lake.catalog.ensure(Events)
    add(lake, EVENTS, event(1, "a"))
    assert lake.catalog.head("bare.events").stamp.commit == 1


def test_a_slow_first_run_does_not_start_a_table_over(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit 0 comes after another run's commit 1: pyiceberg retries it on top of that."""
    append, raced = catalogs.IcebergTable.append, []

    def late(table: Any, *args: Any, **options: Any) -> None:
        if not raced:
            raced.append(True)
            add(lake, EVENTS, event(1, "a"))
        append(table, *args, **options)

    monkeypatch.setattr(catalogs.IcebergTable, "append", late)
    Catalog().ensure(Events)
    assert lake.catalog.head("bare.events").stamp.commit == 1


def test_the_last_day_of_time_is_a_day_like_any(lake: Lake) -> None:
    forever = datetime.max.replace(tzinfo=UTC)
    for seq in (1, 2):
        add(lake, EVENTS, event(seq, "a", seq, at=forever), stated=False)
        for table in (LATEST, DAILY):
            advance(lake, table)
    assert [r["version"] for r in stored("bare.latest")] == [2]
    assert [r["total"] for r in stored("bare.daily")] == [4]


@pytest.mark.parametrize("instant", ["+12345-01-01 00:00:00", "-0044-03-15 00:00:00"])
def test_a_year_that_python_cannot_hold_does_not_stop_a_table(lake: Lake, instant: str) -> None:
    """JSON's `+12345-…` and `-0044-…` are cast to timestamps by Spark and stored by raw."""
    for version in (1, 2):
        add(lake, EVENTS, event(version, "good", version), stated=False)
        head = lake.catalog.head("bare.events")
        odd = lake.table("bare.events").where("id = 'good'").limit(1)
        odd = odd.selectExpr(
            f"{version + 10} as seq", "'odd' as id", f"timestamp'{instant}' as at",
            f"{version} as version", "amount", "arrived_at",
        )  # fmt: skip
        stamp = next_stamp(head.stamp, at="", ranges=None)
        publishing.publish(lake, Events, head, publishing.Change(odd, "append", stamp))
        advance(lake, LATEST)
    found = lake.table("bare.latest").select("id", "version").orderBy("id").collect()
    assert [tuple(r) for r in found] == [("good", 2), ("odd", 2)]
