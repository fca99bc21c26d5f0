"""Tables that need more than what is new: what parents' rows were, or their own rows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake import news, scope
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.contract import (
    Layout,
    Table,
    append_only,
    column,
    own_rows,
)
from lakehouse_assets.lake.derive import Expired
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets_tests.lake.tables import (
    BY_SUM,
    DAY,
    EVENTS,
    HOUR,
    LATEST,
    TOTALS,
    add,
    event,
    own_lake,
)
from lakehouse_assets_tests.support import rows, stored


class Moves(Table, name="bare.moves"):
    """bare.moves: one row per id and time at which its sum became another."""

    id = column("string", "Whose.", key=True)
    batch = column("bigint", "When.", key=True)
    was = column("bigint", "The sum before.", nullable=True)
    became = column("bigint", "The sum since.", nullable=True)
    others = column("bigint", "How many ids there are.")
    layout = Layout(scope=append_only())


class Looks(Table, name="bare.looks"):
    """bare.looks: one row per id, with how often it was looked at."""

    id = column("string", "Whose.", key=True)
    looks = column("bigint", "How often.", ge=1)
    layout = Layout(scope=own_rows())


class PerHour(Table, name="bare.per_hour"):
    """bare.per_hour: one row per version and hour, of which deliveries are counted once."""

    version = column("int", "Which version.", key=True)
    at = column("timestamp", "Begin of the hour, UTC.", key=True)
    count = column("bigint", "How many deliveries.")
    layout = Layout(scope=own_rows(at="at"))


class Days(Table, name="bare.days"):
    """bare.days: one row, the day."""

    on_day = column("date", "The day.", key=True)


def moves_of(
    totals: DataFrame, totals_new: DataFrame, totals_old: DataFrame, batches: DataFrame
) -> DataFrame:
    old = totals_old.select("id", F.col("total").alias("was"))
    moved = totals_new.select("id", F.col("total").alias("became")).join(old, "id", how="full")
    when = batches.agg(F.max("commit").alias("batch"))
    return moved.join(when, how="cross").join(
        totals.agg(F.count(F.lit(1)).alias("others")), how="cross"
    )


def per_hour_of(here: DataFrame, events: DataFrame) -> tuple[DataFrame, DataFrame]:
    hour = F.date_trunc("hour", "at").alias("at")
    new = events.groupBy("version", hour).agg(F.count(F.lit(1)).alias("count"))
    old = here.where("_counts").select("version", "at", "count")
    both = old.unionAll(new).groupBy("version", "at").agg(F.sum("count").alias("count"))
    return both, old


def looks_of(here: DataFrame, latest: DataFrame) -> tuple[DataFrame, DataFrame]:
    old = here.join(latest, "id", how="left_semi")
    before = old.select("id", F.col("looks").alias("before"))
    made = latest.join(before, "id", how="left")
    return made.selectExpr("id", "coalesce(before, 0) + 1 as looks"), old


MOVES = table_asset(Moves, moves_of, totals=TOTALS)
PER_HOUR = table_asset(PerHour, per_hour_of, events=EVENTS)
LOOKS = table_asset(Looks, looks_of, latest=LATEST)


@pytest.fixture
def lake(stack: Path, tmp_path: Path) -> Iterator[Lake]:
    with own_lake(tmp_path / "was") as lake:
        yield lake


def sums(lake: Lake) -> dict[object, object]:
    advance(lake, TOTALS)
    advance(lake, BY_SUM)
    return {row["total"]: row["ids"] for row in stored(BY_SUM.name)}


def test_rows_are_missed_where_they_were_when_they_change_or_go(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", amount=2), event(2, "b", amount=2), event(3, "c", amount=6))
    assert sums(lake) == {2: 2, 6: 1}
    add(lake, EVENTS, event(4, "a", amount=4), event(5, "b", amount=-2))  # b is no more
    assert sums(lake) == {6: 2}
    (tally, *_) = lake.catalog.head(BY_SUM.name).tallies
    assert (tally["batch"], tally["gone"]) == (1, 1)


def test_sums_that_nobody_left_or_joined_are_not_written_again(lake: Lake) -> None:
    add(lake, EVENTS, *[event(n, f"id{n}", amount=2 * n) for n in range(1, 9)])
    sums(lake)
    add(lake, EVENTS, event(99, "id1", amount=2))
    advance(lake, TOTALS)
    (published,) = advance(lake, BY_SUM).published
    assert (published.stored, published.removed) == (1, 2)  # 4 has two now; 2 nobody


def test_a_log_tells_what_rows_were_and_became_and_does_so_once(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", amount=2), event(2, "b", amount=4))
    advance(lake, TOTALS)
    advance(lake, MOVES)
    add(lake, EVENTS, event(3, "a", amount=2), event(4, "b", amount=-4), event(5, "c"))
    advance(lake, TOTALS)
    advance(lake, MOVES)
    assert not advance(lake, MOVES).published
    assert [tuple(row.values()) for row in stored(MOVES.name)] == [
        ("a", 1, None, 2, 2), ("a", 2, 2, 4, 2), ("b", 1, None, 4, 2), ("b", 2, 4, None, 2),
        ("c", 2, None, 2, 2),
    ]  # fmt: skip


def test_a_log_that_was_left_behind_too_long_says_so(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a"))
    advance(lake, TOTALS)
    advance(lake, MOVES)
    add(lake, EVENTS, event(2, "a"))
    advance(lake, TOTALS)
    monkeypatch.setattr(news, "stamped", lambda *_: [])
    with pytest.raises(Expired, match=r"bare.moves: what bare.totals was at batch 1 has expired"):
        advance(lake, MOVES)
    assert len(stored(MOVES.name)) == 1


def test_without_what_was_everything_is_looked_at(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a", amount=2), event(2, "b", amount=2))
    sums(lake)
    add(lake, EVENTS, event(3, "a", amount=2))
    monkeypatch.setattr(news, "stamped", lambda *_: [])
    assert sums(lake) == {2: 1, 4: 1}


def test_a_table_may_go_on_from_its_own_rows(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, "b"))
    advance(lake, LATEST)
    advance(lake, LOOKS)
    add(lake, EVENTS, event(3, "a", version=2), event(4, "c"))
    advance(lake, LATEST)
    (published,) = advance(lake, LOOKS).published
    assert (published.stored, published.removed) == (2, 1)
    assert {row["id"]: row["looks"] for row in stored(LOOKS.name)} == {"a": 2, "b": 1, "c": 1}
    rebuild(lake, LOOKS)
    assert {row["id"]: row["looks"] for row in stored(LOOKS.name)} == {"a": 3, "b": 2, "c": 2}


def test_news_are_added_to_counts_until_a_parent_is_made_anew(lake: Lake) -> None:
    def counts() -> list[tuple[object, ...]]:
        advance(lake, PER_HOUR)
        return [(r["version"], r["at"], r["count"]) for r in stored(PER_HOUR.name)]

    first, later = event(1, "a"), event(2, "b", at=DAY + HOUR)
    add(lake, EVENTS, first, later)
    add(lake, EVENTS, event(3, "c"), event(4, "d", version=2))
    assert counts() == [(1, DAY, 2), (1, DAY + HOUR, 1), (2, DAY, 1)]
    add(lake, EVENTS, event(5, "e"))
    assert counts() == [(1, DAY, 3), (1, DAY + HOUR, 1), (2, DAY, 1)]
    head, hour = lake.catalog.head(EVENTS.name), ["2024-03-01T00:00:00", "2024-03-01T01:00:00"]
    stamp = scope.next_stamp(head.stamp, at="at", ranges=[hour], corrects=True)
    where = f"at < timestamp'{hour[1]}'"
    anew = Change(rows(lake.spark, EVENTS.contract, first), "replace", stamp, where, carry=False)
    publish(lake, EVENTS.contract, head, anew)
    assert counts() == [(1, DAY, 1), (1, DAY + HOUR, 1)]
    rebuild(lake, PER_HOUR)
    assert counts() == [(1, DAY, 1), (1, DAY + HOUR, 1)]


def test_news_that_touch_too_many_rows_are_not_fetched(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "MAX_KEYS", 1)
    add(lake, EVENTS, event(1, "a", amount=2), event(2, "b", amount=2), event(3, "c", amount=6))
    assert sums(lake) == {2: 2, 6: 1}
    add(lake, EVENTS, event(4, "a", amount=4), event(5, "b", amount=-2))
    assert sums(lake) == {6: 2}


def test_a_daily_table_is_told_once_a_day(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    days = LakeTable(Days, "bare", daily=lambda day: [{"on_day": day}])
    assert advance(lake, days).published
    assert not advance(lake, days).published
    monkeypatch.setattr("lakehouse_assets.lake.advance.today", lambda: {"day": [738_000, 0]})
    assert advance(lake, days).published
    assert [str(row["on_day"]) for row in stored("bare.days")] == ["2021-07-29"]
