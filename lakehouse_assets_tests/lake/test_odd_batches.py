"""Batches at their worst: new columns and rules, tasks that ran twice, held batches."""

import re

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.lake import publish as publishing
from lakehouse_assets.lake import schema
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.contract import (
    Layout,
    Rule,
    Table,
    column,
    column_rules,
    newest,
    recompute_all,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.lake.tables import (
    EVENTS,
    LATEST,
    Events,
    Latest,
    add,
    event,
    latest_of,
)
from lakehouse_assets_tests.support import stored


class Staged(Latest, name="staging.stg_bare"):
    """staging.stg_bare: one row per id; amounts above 100 are refused."""

    refuses = True


STAGED = table_asset(Staged, latest_of, events=EVENTS)


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
