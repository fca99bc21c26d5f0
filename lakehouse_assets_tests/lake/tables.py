"""Bare tables: the smallest contracts on which the engine's rules show, and how tests feed them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake import scope, versions
from lakehouse_assets.lake.contract import (
    Layout,
    Rule,
    Table,
    column,
    newest,
    recompute_all,
    recompute_days,
    recompute_keys,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, Published, publish
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets_tests.support import rows

Row = dict[str, Any]

DAY = datetime(2024, 3, 1, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


class Events(Table, name="bare.events"):
    """bare.events: one row per delivery; never changed, only added to."""

    seq = column("int", "Which delivery.", key=True)
    id = column("string", "Whose.", nullable=True)
    at = column("timestamp", "When; the same for all deliveries of an id, UTC.", nullable=True)
    version = column("int", "Which version of it.", nullable=True)
    amount = column("int", "How much.", nullable=True)
    arrived_at = column("timestamp", "When it came, UTC.", nullable=True)
    layout = Layout(partitioned_by="days(at)")


class Latest(Table, name="bare.latest"):
    """bare.latest: one row per id, its newest version."""

    id = column("string", "Whose.", key=True)
    at = column("timestamp", "When, UTC.")
    version = column("int", "Which version of it.", nullable=True)
    amount = column("int", "How much.", nullable=True, ge=0, le=100)
    arrived_at = column("timestamp", "When it first came, UTC.", nullable=True)
    layout = Layout(partitioned_by="days(at)", scope=newest(by="version", at="at"))
    rules = (Rule("even", "amount % 2 = 0", "amounts are even", threshold=0.5),)


class Greatest(Table, name="bare.greatest"):
    """bare.greatest: one row per id, its greatest amount, of those its newest version."""

    id = column("string", "Whose.", key=True)
    version = column("int", "Which version of it.", nullable=True)
    amount = column("int", "How much.", nullable=True, ge=0)
    arrived_at = column("timestamp", "When it first came, UTC.", nullable=True)
    layout = Layout(scope=newest(by=("amount", "version")))


class Totals(Table, name="bare.totals"):
    """bare.totals: one row per id whose amounts sum to something positive."""

    id = column("string", "Whose.", key=True, nullable=True)
    at = column("timestamp", "When, UTC.")
    total = column("bigint", "Sum of amounts.", le=100)
    deliveries = column("bigint", "How many were added.", ge=2)
    layout = Layout(partitioned_by="days(at)", scope=recompute_keys(at="at"))


class Daily(Table, name="bare.daily"):
    """bare.daily: one row per day and id with a positive sum."""

    on_day = column("date", "Day, UTC.", key=True)
    id = column("string", "Whose.", key=True, nullable=True)
    total = column("bigint", "Sum of amounts.", le=100)
    layout = Layout(scope=recompute_days(at="at", on="on_day"))


class Steps(Table, name="bare.steps"):
    """bare.steps: one row per id and version, with the version that follows it."""

    id = column("string", "Whose.", key=True, nullable=True)
    version = column("int", "Which version of it.", key=True, nullable=True)
    following = column("int", "The next one.", nullable=True)
    layout = Layout(scope=recompute_keys(at="", by=("id",)))


class Peers(Table, name="bare.peers"):
    """bare.peers: one row per id, with how many of its version the day up to it had."""

    id = column("string", "Whose.", key=True)
    at = column("timestamp", "When, UTC.", nullable=True)
    version = column("int", "Which version of it.", nullable=True)
    peers = column("bigint", "Ids of this version within a day.", ge=1)
    layout = Layout(scope=recompute_keys(at="at", by=("version",), reach=timedelta(days=1)))


class BySum(Table, name="bare.by_sum"):
    """bare.by_sum: one row per sum that some id has."""

    total = column("bigint", "The sum.", key=True)
    ids = column("bigint", "How many have it.", ge=1)
    layout = Layout(scope=recompute_keys(by=("total",), was=True))


class Overall(Table, name="bare.overall"):
    """bare.overall: one row per version number with a positive sum."""

    version = column("int", "Which version.", key=True, nullable=True)
    total = column("bigint", "Sum of amounts.", le=100)
    layout = Layout(scope=recompute_all())


def latest_of(events: DataFrame) -> DataFrame:
    return events.select("id", "at", "version", "amount", "arrived_at")


def greatest_of(events: DataFrame) -> DataFrame:
    return events.select("id", "version", "amount", "arrived_at")


def totals_of(events: DataFrame) -> DataFrame:
    grouped = events.groupBy("id", "at").agg(
        F.sum("amount").alias("total"), F.count(F.lit(1)).alias("deliveries")
    )
    return grouped.where("total > 0")


def daily_of(events: DataFrame) -> DataFrame:
    grouped = events.groupBy(F.to_date("at").alias("on_day"), "id")
    return grouped.agg(F.sum("amount").alias("total")).where("total > 0")


def overall_of(events: DataFrame) -> DataFrame:
    return events.groupBy("version").agg(F.sum("amount").alias("total")).where("total > 0")


def by_sum_of(totals: DataFrame) -> DataFrame:
    return totals.groupBy("total").agg(F.count(F.lit(1)).alias("ids"))


def steps_of(events: DataFrame) -> DataFrame:
    following = F.lead("version").over(Window.partitionBy("id").orderBy("version"))
    each = events.groupBy("id", "version").count()
    return each.select("id", "version", following.alias("following"))


def peers_of(latest: DataFrame) -> DataFrame:
    seconds = F.unix_seconds("at")
    a_day = Window.partitionBy("version").orderBy(seconds).rangeBetween(-86_400, 0)
    return latest.select("id", "at", "version", F.count(F.lit(1)).over(a_day).alias("peers"))


EVENTS = LakeTable(Events, "bare")
LATEST = table_asset(Latest, latest_of, events=EVENTS)
GREATEST = table_asset(Greatest, greatest_of, events=EVENTS)
TOTALS = table_asset(Totals, totals_of, events=EVENTS)
DAILY = table_asset(Daily, daily_of, events=EVENTS)
STEPS = table_asset(Steps, steps_of, events=EVENTS)
PEERS = table_asset(Peers, peers_of, latest=LATEST)
BY_SUM = table_asset(BySum, by_sum_of, totals=TOTALS)
OVERALL = table_asset(Overall, overall_of, events=EVENTS)


def add(lake: Lake, table: LakeTable, *given: Row, stated: bool = True) -> Published:
    """Publish rows to a parent; `stated`: its commit says in which hours of `at` they lie."""
    lake.catalog.ensure(table.contract)
    head = lake.catalog.head(table.name)
    frame = rows(lake.spark, table.contract, *given)
    said = ("at", scope.as_ranges(_hours(given))) if stated else ("", None)
    stamp = scope.next_stamp(head.stamp, at=said[0], ranges=said[1])
    return publish(lake, table.contract, head, Change(frame, "append", stamp))


def _hours(given: tuple[Row, ...]) -> list[scope.Span]:
    instants = [r["at"].replace(tzinfo=None) for r in given if r.get("at")]
    hours = [i.replace(minute=0, second=0, microsecond=0) for i in instants]
    return scope.merge((h, h + HOUR) for h in hours)


def event(seq: int, id: str | None, version: int = 1, amount: int = 2, **more: Any) -> Row:
    """A delivery on the first day, arrived in the order of `seq`, unless said otherwise."""
    usual = {"at": DAY, "arrived_at": DAY + timedelta(seconds=seq)}
    return {"seq": seq, "id": id, "version": version, "amount": amount, **usual, **more}


def day(n: int) -> datetime:
    return DAY + timedelta(days=n - 1)


def on(n: int) -> date:
    return day(n).date()


@contextmanager
def own_lake(folder: Path) -> Iterator[Lake]:
    """A lake with no table on the running services, for the tests of one module to share."""
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_CATALOG_URI", f"sqlite:///{folder / 'catalog.db'}")
        patch.setenv("LAKEHOUSE_WAREHOUSE", str(folder / "warehouse"))
        lake = Lake(run="test")
        lake.compile(False)  # a test has few rows
        yield lake
        lake.close()


def result(table: LakeTable, **parents: DataFrame) -> list[Row]:
    """The rows that the table would hold, made of literal parents: transform, refusal, winners."""
    if table.contract.layout.scope.kind == "own" and "here" not in parents:
        none = rows(next(iter(parents.values())).sparkSession, table.contract)
        parents["here"] = none.selectExpr("*", "true as _counts")
    made, _ = versions.made(table, parents)
    shown = [c for c in table.contract.columns if not c.startswith("_")]
    found = made.select(*[f"`{c}`" for c in shown]).orderBy(*table.contract.key())
    return fetched(found).to_pylist()  # type: ignore[no-any-return]
