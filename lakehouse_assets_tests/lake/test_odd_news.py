"""News at its worst: two writers, times at the edges, NULL keys, rows that leave."""

import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.lake import publish as publishing
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.contract import (
    Layout,
    Table,
    column,
    recompute_keys,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets.looks.audit import audit
from lakehouse_assets_tests.lake.tables import (
    DAILY,
    EVENTS,
    LATEST,
    TOTALS,
    Latest,
    add,
    day,
    event,
)
from lakehouse_assets_tests.support import stored

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


@pytest.mark.parametrize("attempt", range(5))
def test_first_runs_may_make_catalog_namespace_and_table_at_once(
    empty_lake: Path, attempt: int
) -> None:
    gate, failed = threading.Barrier(4), []

    def make() -> None:
        gate.wait()
        try:
            Catalog().ensure(Latest)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert failed == []
    head = Catalog().head("bare.latest")
    assert (head.stamp.commit, head.rows) == (0, 0)


# --- time


@pytest.mark.parametrize("year", ["0001", "0999"])
def test_an_ancient_timestamp_does_not_stop_a_table(lake: Lake, year: str) -> None:
    add(
        lake,
        EVENTS,
        event(1, "a"),
        event(2, "b", at=datetime(int(year), 1, 1, tzinfo=timezone.utc)),
        stated=False,
    )
    advance(lake, LATEST)
    assert [r["id"] for r in stored("bare.latest")] == ["a", "b"]


def test_the_end_of_time_does_not_stop_a_table(lake: Lake) -> None:
    forever = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
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
