"""What starts runs by itself: one sensor per source.

A tick compares offsets in Kafka with what the raw tables say they have, and every table's progress
with its parents' heads. It starts no Spark and keeps no memory: the tables' own commits are the
truth, so a run that died, at whatever moment, is noticed because its rows are still missing.

Freshness is judged here, by lag, and not by a FreshnessPolicy, which would call a quiet source
late. Nothing has an AutomationCondition: `eager()` over hourly parents counts every empty hour as
missing, and one run per source carries the news to the marts in order. What has a parent of another
source follows with its own source's news at once, and for the other's alone once a minute.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake.advance import today
from lakehouse_assets.lake.catalog import Catalog, NoTable
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration import runs
from lakehouse_assets.orchestration.asset import riding
from lakehouse_assets.orchestration.names import HELD, METADATA, NEWS, Beside, asset_key
from lakehouse_assets.orchestration.runs import SOURCE
from lakehouse_assets.topics.kafka import Kafka, KafkaDown, NoTopic, hour_of, now
from lakehouse_assets.topics.position import RecordsLost, first_open_hour, position, topic_of

TICK_S = 4  # the daemon looks every 5 s; a 5 here would miss every other look by a millisecond
PATIENCE_S = 4  # of a tick, for a run to end: the next one begins at once, not at the next look
UNTOLD = 20  # commits of a table that they may be behind; catalog.TALLIES_KEPT must be enough
FOREIGN_S = 60  # how often a table follows another source's news alone
METADATA_S = 60  # how often the tables about the lake follow a busy source; an idle one at once


@dataclass(frozen=True)
class Source:
    """A group of topics and all that is made of them."""

    group: str
    raw: list[LakeTable]
    derived: list[LakeTable]  # parents before children
    about: list[LakeTable]  # the lake's tables about itself, which have no parents: always last
    beside: list[Beside]

    @property
    def tables(self) -> list[LakeTable]:
        return [*self.raw, *self.derived, *self.about]

    def onward(self, begin: set[str], held: Iterable[str]) -> list[LakeTable]:
        """Those tables and everything their rows go on to; a held table lets nothing through."""
        reached = begin - set(held)
        for table in self.derived:
            parents = {p.name for p in table.parents.values()}
            if parents & reached and table.name not in held:
                reached.add(table.name)
        return [t for t in [*self.raw, *self.derived] if t.name in reached]


@dataclass
class Look:
    """What one look at a source found."""

    tables: list[LakeTable] = field(default_factory=list)  # to run; empty: nothing to do
    hour: datetime | None = None  # of the hourly ones among them
    lag: int = 0  # records in Kafka that no raw table has
    lost: dict[str, str] = field(default_factory=dict)  # raw table -> which records Kafka dropped
    absent: list[str] = field(default_factory=list)  # topics to which nothing was ever sent
    notes: list[str] = field(default_factory=list)  # what keeps a table back, and the way out
    beside: list[dg.AssetKey] = field(default_factory=list)  # what is due outside the tables


def sources(tables: dict[str, LakeTable], *beside: Beside) -> list[Source]:
    """The groups of the raw tables, each with its share of the lake."""
    groups = sorted({t.group for t in tables.values() if t.topic})
    return [_source(group, tables, beside) for group in groups]


def look(source: Source) -> Look:
    """What a run should do now. Raises KafkaDown; asks for bounded metadata only."""
    lake, kafka, found = Lake(), Kafka(), Look()
    heads = {t.name: _head(lake.catalog, t) for t in source.tables}
    held = {t.name for t in source.tables if _is_held(t, heads[t.name])}
    found.notes = [h.held.told(h.name) for h in heads.values() if h.held and h.name in held]
    hours = {t.name: _unread(kafka, t, heads[t.name], found) for t in source.raw}
    if found.absent:
        found.notes.append(f"not in Kafka yet: {', '.join(found.absent)}")
    open_hours = {name: hour for name, hour in hours.items() if hour and name not in held}
    begun = [t for t in source.raw if heads[t.name].snapshot_id >= 0]
    behind = {t.name: t for t in source.derived if begun and _is_behind(lake, t, heads)}
    # An hour that a died run has left half-way is finished before the next one begins.
    died = [_last_hour(heads, source)] if any(t.hourly for t in behind.values()) else []
    found.hour = min([*open_hours.values(), *died], default=None)
    begin = {name for name, hour in open_hours.items() if hour == found.hour} | set(behind)
    found.tables = source.onward(begin, held)
    for table in source.about:
        if table.name not in held and (found.tables or _is_out_of_date(table, heads, source)):
            found.tables.append(table)
    if any(t.layer != METADATA for t in found.tables):
        found.tables = [t for t in found.tables if t.layer != METADATA or _is_due(t, heads)]
    come = {t.name for t in found.tables}
    found.beside = [b.key for b in source.beside if b.is_due(heads[b.of], b.of in come)]
    if found.hour is None and (found.beside or any(t.hourly for t in found.tables)):
        found.hour = _last_hour(heads, source)
    return found


def source_sensors(tables: dict[str, LakeTable], *beside: Beside) -> list[dg.SensorDefinition]:
    return [_sensor(source) for source in sources(tables, *beside)]


def _sensor(source: Source) -> dg.SensorDefinition:
    topics = ", ".join(f"`{t.topic}`" for t in source.raw)
    keys = [*[asset_key(t.name) for t in source.tables], *[b.key for b in source.beside]]

    @dg.sensor(
        name=f"{source.group}_news",
        asset_selection=dg.AssetSelection.assets(*keys),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=TICK_S,
        description=f"Looks for unread records of {topics} and starts one run at a time for them.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        return tick(context.instance, source, patience_s=PATIENCE_S)

    return sensor


def tick(
    instance: dg.DagsterInstance, source: Source, patience_s: float = 0
) -> dg.RunRequest | dg.SkipReason:
    """One run for the oldest hour with news, or the reason why not.

    There is no run key: Dagster would never again start a run under a key that it has seen.
    """
    runs.reap(instance)
    going = runs.in_flight(instance, source.group, patience_s)
    if wait := going or runs.resting(instance, source.group):
        return dg.SkipReason(wait)
    try:
        found = look(source)
    except KafkaDown as down:
        return dg.SkipReason(str(down))
    # A loss is not only a note: one run fails by it, which reddens the table's check and alerts.
    unheard = [t for t in source.raw if _is_unheard(instance, t, found.lost.get(t.name, ""))]
    wanted = [*unheard, *found.tables]
    if not wanted and not found.beside:
        return dg.SkipReason("; ".join([f"nothing new, lag {found.lag} records", *found.notes]))
    by_hour = any(b.is_hourly for b in source.beside if b.key in found.beside)
    hour, hourly = found.hour or hour_of(now()), by_hour or any(t.hourly for t in wanted)
    return dg.RunRequest(
        partition_key=f"{hour:{settings.HOUR_FORMAT}}" if hourly else None,
        asset_selection=[*[asset_key(t.name) for t in wanted], *found.beside],
        asset_check_keys=riding(wanted),
        tags={NEWS: "true", SOURCE: source.group},
    )


def _is_unheard(instance: dg.DagsterInstance, table: LakeTable, loss: str) -> bool:
    """Whether no run has failed by this very loss yet."""
    if not loss:
        return False
    key = dg.AssetCheckKey(asset_key(table.name), HELD)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
    newest = records[key].evaluation if key in records else None
    said = newest.metadata.get("why") if newest and not newest.passed else None
    return said is None or said.value != loss


def _source(group: str, tables: dict[str, LakeTable], beside: Iterable[Beside]) -> Source:
    raw = [t for t in tables.values() if t.topic and t.group == group]
    reached = {t.name for t in raw}
    derived = []
    for table in tables.values():
        reaches = bool(reached & {p.name for p in table.parents.values()})
        ours = table.group == group and (reaches or table.daily)
        if ours or (reaches and table.layer == METADATA):
            reached.add(table.name)
            derived.append(table)
    about = [t for t in tables.values() if t.source is not None]
    return Source(group, raw, derived, about, [b for b in beside if tables[b.of].group == group])


def _head(catalog: Catalog, table: LakeTable) -> Head:
    try:
        return catalog.head(table.name)
    except NoTable:
        return Head(table.name, -1, Stamp(commit=0, epoch=1, progress={}), 0, 0)


def _unread(kafka: Kafka, table: LakeTable, head: Head, found: Look) -> datetime | None:
    """The oldest hour in which the table's topic has records that the table has not."""
    try:
        topic = topic_of(kafka, head, table.topic)
        _, start = position(head, topic)
        found.lag += sum(max(topic.latest[p] - o, 0) for p, o in start.items())
        return first_open_hour(kafka, topic, start, settings.first_hour())
    except NoTopic:
        found.absent.append(table.topic)
    except RecordsLost as lost:
        found.notes.append(str(lost))
        found.lost[table.name] = str(lost)
    return None


def _is_behind(lake: Lake, table: LakeTable, heads: dict[str, Head]) -> bool:
    """A parent has batches that it never took, as a run died between them; or a day has begun."""
    if table.daily:
        return heads[table.name].stamp.progress != today()
    news = News(lake, table, heads[table.name])
    ours = any(p.group == table.group for p in news.fresh.values())
    if news.rebuilt or ours or table.layer == METADATA:
        return bool(news.is_any)
    return bool(news.fresh) and _age_s(heads[table.name]) >= FOREIGN_S


def _is_out_of_date(about: LakeTable, heads: dict[str, Head], source: Source) -> bool:
    """A table about the lake has not told of a batch: the run died before its end."""
    told = heads[about.name].stamp.progress
    others = [heads[t.name] for t in source.tables if t.layer != about.layer]
    made = [h for h in others if h.snapshot_id >= 0]
    return any(told.get(h.name) != [h.stamp.commit, h.stamp.epoch] for h in made)


def _is_due(table: LakeTable, heads: dict[str, Head]) -> bool:
    """After a while; and before a table about the lake misses what the others published."""
    head = heads[table.name]
    told, others = head.stamp.progress, [n for n in heads if not n.startswith(f"{METADATA}.")]
    untold = [heads[n].stamp.commit - told.get(n, [0])[0] for n in others if table.source]
    return _age_s(head) >= METADATA_S or max(untold, default=0) > UNTOLD


def _age_s(head: Head) -> float:
    return time.time() - head.published_ms / 1000


def _is_held(table: LakeTable, head: Head) -> bool:
    return head.held is not None and head.held.stamp.code == table.code_version()


def _last_hour(heads: dict[str, Head], source: Source) -> datetime:
    """The hour a died run was at: that of the newest raw batch."""
    stated = [heads[t.name].stamp.hour for t in source.raw if heads[t.name].stamp.hour]
    newest = datetime.fromisoformat(max(stated)) if stated else now()
    return newest.replace(tzinfo=timezone.utc) if stated else hour_of(newest)
