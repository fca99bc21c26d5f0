"""The loop every table goes through: look at the heads, make the change, publish it; again if
another came first.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from time import perf_counter
from typing import Any

from lakehouse_assets.lake import derive, ingest, scope, versions, waypoint
from lakehouse_assets.lake.catalog import MainMoved
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.publish import Change, Held, Published, publish
from lakehouse_assets.lake.scope import iso
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.topics.kafka import Kafka, NoTopic
from lakehouse_assets.topics.position import topic_of

ATTEMPTS = 5  # redone batches, when others keep publishing first
BATCHES = 25  # commits in one call, when an hour is larger than one batch


@dataclass
class Outcome:
    """What a call did, for the caller to tell."""

    table: LakeTable
    published: list[Published] = field(default_factory=list)
    head: Head | None = None  # what readers see at the end
    lag: int = 0
    cut: bool = False  # an hour had more records than one batch may hold
    note: str = ""
    seconds: dict[str, float] = field(default_factory=dict)  # by phase

    def add(self, published: Published | None) -> bool:
        if published is not None:
            self.published.append(published)
        return published is not None

    @property
    def tally(self) -> dict[str, Any] | None:
        return self.published[-1].tally if self.published else None


def advance(
    lake: Lake, table: LakeTable, hour: datetime | None = None, anew: bool = False
) -> Outcome:
    """Bring a table up to its source, its parents or the lake; `anew`: compute the hour again."""
    lake.catalog.ensure(table.contract)
    outcome = Outcome(table)
    if table.topic:
        _ingest(lake, table, outcome, _required(table, hour), anew)
    elif table.source or table.daily:
        outcome.add(once(lake, table, lambda head: _told(lake, table, head), anew))
    else:
        _derive(lake, table, outcome, hour, anew)
    outcome.head = lake.catalog.head(table.name)
    if not outcome.published:
        lake.catalog.reap(table.name)
        outcome.note = outcome.note or "nothing new"
    return outcome


def rebuild(lake: Lake, table: LakeTable) -> Outcome:
    """Everything from the parents, in one publish; readers see the old rows until then."""
    if table.transform is None:
        raise ValueError(
            f"{table.name} has no parents to be rebuilt from; materialize its hours instead"
        )
    lake.catalog.ensure(table.contract)
    outcome = Outcome(table)

    def change(head: Head) -> Change:
        news = News(lake, table, head)
        return derive.whole(news, news.stamp(), epoch=head.stamp.epoch + 1)

    outcome.add(once(lake, table, change))
    outcome.head = lake.catalog.head(table.name)
    return outcome


def _required(table: LakeTable, hour: datetime | None) -> datetime:
    if hour is None:
        raise ValueError(f"{table.name} is hourly: name a partition")
    return hour


def _ingest(lake: Lake, table: LakeTable, outcome: Outcome, hour: datetime, anew: bool) -> None:
    kafka = Kafka()
    if anew and _has_hour(lake, table, hour):
        again = once(lake, table, lambda h: ingest.replace_hour(lake, table, h, kafka, hour))
        outcome.add(again)

    def change(head: Head) -> Change | None:
        try:
            topic = topic_of(kafka, head, table.topic)
        except NoTopic as absent:
            outcome.note = str(absent)
            return None
        with lake.phase("plan"):
            batch = ingest.next_batch(kafka, topic, head, hour)
        outcome.lag, outcome.cut = (batch.lag, batch.cut) if batch else (0, False)
        return ingest.append(lake, table, head, batch) if batch else None

    for _ in range(BATCHES):  # what arrives meanwhile is the next run's
        outcome.add(once(lake, table, change, anew))
        if not outcome.cut:
            return


def _has_hour(lake: Lake, table: LakeTable, hour: datetime) -> bool:
    rows = lake.at(lake.catalog.head(table.name))
    return bool(rows.where(f"ingest_hour = timestamp'{iso(hour)}'").limit(1).count())


def _derive(
    lake: Lake, table: LakeTable, outcome: Outcome, hour: datetime | None, anew: bool
) -> None:
    label = iso(hour) if hour is not None and table.hourly else ""

    def change(head: Head) -> Change | None:
        news = News(lake, table, head)
        return derive.incremental(news, label) if news.is_any else None

    outcome.add(once(lake, table, change, anew))
    if anew and label:
        outcome.add(once(lake, table, lambda head: derive.anew(lake, table, head, label)))


def today() -> dict[str, Any]:
    """How far a table that is told once a day has to be."""
    return {"day": [datetime.now(timezone.utc).toordinal(), 0]}


def _told(lake: Lake, table: LakeTable, head: Head) -> Change | None:
    """Rows about the lake, if any other table has published since; or about the day, once."""
    every = lake.catalog.heads() if table.source else {}
    heads = {n: h for n, h in every.items() if n.split(".")[0] != table.layer}
    told_of = {n: [h.stamp.commit, h.stamp.epoch] for n, h in heads.items()}
    progress = told_of if table.source else today()
    if progress == head.stamp.progress:
        return None
    if table.source:
        told = table.source(heads, {n: commit for n, (commit, _) in head.stamp.progress.items()})
    else:
        told = table.daily(date.fromordinal(progress["day"][0])) if table.daily else []
    stamp = scope.next_stamp(head.stamp, progress=progress, code=table.code_version(), run=lake.run)
    return derive.told(lake, table, told, stamp)


def once(
    lake: Lake, table: LakeTable, make: Callable[[Head], Change | None], by_hand: bool = True
) -> Published | None:
    """One batch: made from the newest head, published, or made again when that head moved."""
    for _ in range(ATTEMPTS):
        head, lake.began = lake.catalog.head(table.name), perf_counter()
        versions.checked.add(head.stamp.code)
        change = make(head)
        if change is None:
            return None
        if not by_hand:
            _refuse_held(head, table, change)
        waypoint.passed("read", table.name)
        with suppress(MainMoved):
            return publish(lake, table.contract, head, change)
    raise MainMoved(f"{table.name}: others published first {ATTEMPTS} times; try again")


def _refuse_held(head: Head, table: LakeTable, change: Change) -> None:
    """The same input under the same code would fail the same way; do not try it every tick."""
    code, progress = table.code_version(), change.stamp.progress
    if head.held and (head.held.stamp.code, head.held.stamp.progress) == (code, progress):
        raise Held(head.held.told(table.name))
