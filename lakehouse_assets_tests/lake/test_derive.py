"""From parents to child: each kind of scope, what it touches and what it leaves alone."""

from datetime import timedelta

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.contract import (
    COMMIT,
    Layout,
    Table,
    column,
    recompute_days,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets_tests.lake.tables import (
    DAILY,
    DAY,
    EVENTS,
    HOUR,
    LATEST,
    OVERALL,
    TOTALS,
    add,
    day,
    event,
    latest_of,
    on,
)
from lakehouse_assets_tests.support import stored


def found(name: str, *columns: str) -> list[tuple[object, ...]]:
    """A table as pyiceberg reads it."""
    return sorted((tuple(r[c] for c in columns) for r in stored(name)), key=repr)


@pytest.fixture
def fed(lake: Lake) -> Lake:
    """A parent with two ids on the first day and one on the second."""
    add(lake, EVENTS, event(1, "a", 2, 20), event(2, "b", 1, 40), event(3, "c", at=day(2)))
    return lake


# --- newest


def test_newest_takes_the_greatest_version_whatever_the_order_of_arrival(fed: Lake) -> None:
    advance(fed, LATEST)
    add(fed, EVENTS, event(4, "a", 1, 10), event(5, "b", 2, 50), event(6, "d", at=day(9)))
    advance(fed, LATEST)
    assert found("bare.latest", "id", "version", "amount") == [
        ("a", 2, 20), ("b", 2, 50), ("c", 1, 2), ("d", 1, 2),
    ]  # fmt: skip


def test_of_equal_versions_the_greater_content_wins_and_of_equal_content_the_first_arrival(
    fed: Lake,
) -> None:
    advance(fed, LATEST)
    add(fed, EVENTS, event(4, "a", 2, 30), event(5, "b", 1, 30), event(6, "c", at=day(2)),
        event(0, "c", at=day(2)))  # fmt: skip
    advance(fed, LATEST)
    assert found("bare.latest", "id", "amount", "arrived_at") == [
        ("a", 30, DAY + timedelta(seconds=4)),
        ("b", 40, DAY + timedelta(seconds=2)),
        ("c", 2, DAY),
    ]


def test_news_that_changes_nothing_only_moves_progress(fed: Lake) -> None:
    advance(fed, LATEST)
    before = stored("bare.latest", "id", "version", COMMIT)
    add(fed, EVENTS, event(9, "a", 2, 20), event(10, "b", 0, 90))
    (published,) = advance(fed, LATEST).published
    assert (published.stored, published.removed) == (0, 0)
    head = fed.catalog.head("bare.latest")
    epoch = fed.catalog.head("bare.events").stamp.epoch
    assert (head.stamp.commit, head.stamp.progress) == (2, {"bare.events": [2, epoch]})
    assert stored("bare.latest", "id", "version", COMMIT) == before


def test_no_news_makes_no_commit(fed: Lake) -> None:
    advance(fed, LATEST)
    outcome = advance(fed, LATEST)
    assert (outcome.published, outcome.note) == ([], "nothing new")
    assert fed.catalog.head("bare.latest").stamp.commit == 1


# --- keys


def test_keys_are_computed_again_whole_and_one_that_disappears_is_deleted(fed: Lake) -> None:
    advance(fed, TOTALS)
    add(fed, EVENTS, event(4, "a", 1, 5), event(5, "b", 1, -40), event(6, None, 1, 7))
    advance(fed, TOTALS)
    assert found("bare.totals", "id", "total", "deliveries") == [
        ("a", 25, 2), ("c", 2, 1), (None, 7, 1),
    ]  # fmt: skip
    add(fed, EVENTS, event(7, "b", 1, 1), event(8, None, 1, 3))
    advance(fed, TOTALS)
    assert found("bare.totals", "id", "total", "deliveries") == [
        ("a", 25, 2), ("b", 1, 3), ("c", 2, 1), (None, 10, 2),
    ]  # fmt: skip


def test_keys_may_be_named_by_the_table_itself(fed: Lake) -> None:
    """The child's key is the parent's in upper case, so the parent's rows must be asked."""

    def upper(events: DataFrame) -> DataFrame:
        return totals_in_upper_case(events.withColumn("id", F.upper("id")))

    def mentions(_: str, events: DataFrame, __: dict[str, DataFrame]) -> DataFrame:
        return events.select(F.upper("id").alias("id"))

    table = table_asset(TOTALS.contract, upper, events=EVENTS, mentions=mentions)
    advance(fed, table)
    add(fed, EVENTS, event(4, "a", 1, 5))
    advance(fed, table)
    assert found("bare.totals", "id", "total") == [("A", 25), ("B", 40), ("C", 2)]


def totals_in_upper_case(events: DataFrame) -> DataFrame:
    assert TOTALS.transform is not None
    return TOTALS.transform(events)


# --- days and all


def test_days_are_computed_again_whole_and_a_row_that_leaves_one_is_deleted(fed: Lake) -> None:
    advance(fed, DAILY)
    add(fed, EVENTS, event(4, "a", 1, -20), event(5, None, 1, 7))
    advance(fed, DAILY)
    assert found("bare.daily", "on_day", "id", "total") == [
        (on(1), "b", 40), (on(1), None, 7), (on(2), "c", 2),
    ]  # fmt: skip


def test_everything_is_compared_and_only_what_differs_is_written(fed: Lake) -> None:
    advance(fed, OVERALL)
    add(fed, EVENTS, event(4, "a", 3, 9), event(5, "a", 2, -20), event(6, "x", None, 4))
    (published,) = advance(fed, OVERALL).published
    assert found("bare.overall", "version", "total") == [(1, 42), (3, 9), (None, 4)]
    assert (published.stored, published.removed) == (2, 1)


def test_a_late_row_touches_only_its_day(lake: Lake) -> None:
    tables = (LATEST, DAILY)
    add(lake, EVENTS, *[event(n, f"id{n}", at=day(n)) for n in range(1, 6)])
    for table in tables:
        advance(lake, table)
    add(lake, EVENTS, event(9, "late", at=day(2) + 5 * HOUR))
    latest, daily = [advance(lake, t).published[0] for t in tables]
    assert [p.summary["added-records"] for p in (latest, daily)] == ["1", "1"]
    assert latest.stamp.at == "at"
    assert latest.stamp.ranges == [["2024-03-02T05:00:00", "2024-03-02T06:00:00"]]
    touched = {r["id"] for r in stored("bare.latest", "id", COMMIT) if r[COMMIT] == 2}
    assert touched == {"late"}


def test_a_days_table_follows_a_parent_whose_rows_change(fed: Lake) -> None:
    class PerDay(Table, name="bare.per_day"):
        """bare.per_day: one row per day."""

        on_day = column("date", "Day, UTC.", key=True)
        total = column("bigint", "Sum of newest amounts.")
        layout = Layout(scope=recompute_days(at="at", on="on_day"))

    def per_day(latest: DataFrame) -> DataFrame:
        grouped = latest.groupBy(F.to_date("at").alias("on_day"))
        return grouped.agg(F.sum("amount").alias("total"))

    daily = table_asset(PerDay, per_day, latest=LATEST)
    for more in ([], [event(4, "a", 3, 1)], [event(5, "c", 2, 8, at=day(2)), event(6, "b", 0, 0)]):
        if more:
            add(fed, EVENTS, *more)
        advance(fed, LATEST)
        advance(fed, daily)
    assert found("bare.per_day", "on_day", "total") == [(on(1), 41), (on(2), 8)]


# --- cost and refusals


def test_news_of_a_parent_with_many_commits_is_read_from_its_newest_file_alone(
    lake: Lake,
) -> None:
    for n in range(1, 9):
        add(lake, EVENTS, event(n, f"id{n}"))
    table = lake.catalog.load("bare.events")
    assert len(list(table.scan().plan_files())) == 8
    assert len(list(table.scan(row_filter=f"{COMMIT} > 7").plan_files())) == 1
    advance(lake, LATEST)
    add(lake, EVENTS, event(9, "id1", 2))
    (published,) = advance(lake, LATEST).published
    assert published.summary["added-records"] == "1"


def test_a_transform_that_gives_other_columns_or_types_is_refused_before_any_write(
    fed: Lake,
) -> None:
    def nameless(events: DataFrame) -> DataFrame:
        return latest_of(events).drop("amount")

    def long(events: DataFrame) -> DataFrame:
        return latest_of(events).withColumn("amount", F.col("amount").cast("bigint"))

    with pytest.raises(TypeError, match=r"bare\.latest: the transform gives no column amount"):
        advance(fed, table_asset(LATEST.contract, nameless, events=EVENTS))
    with pytest.raises(TypeError, match=r"amount is bigint, the contract says int; cast it"):
        advance(fed, table_asset(LATEST.contract, long, events=EVENTS))
    refs = fed.catalog.load("bare.latest").metadata.refs
    assert list(refs) == ["main"] and stored("bare.latest") == []


def test_a_transform_of_many_steps_is_merged_like_any(fed: Lake) -> None:
    def stepwise(events: DataFrame) -> DataFrame:
        for n in range(60):
            events = events.where(f"seq != {1000 + n}")
        return latest_of(events)

    advance(fed, table_asset(LATEST.contract, stepwise, events=EVENTS))
    assert len(stored("bare.latest")) == 3
