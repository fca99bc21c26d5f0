"""Looks at a table as it stands: what no single row can tell.

Is the stream read, is an hour as full as the ones before it, does the source send fields that
nobody declared, does every record of raw have its place in staging. They write nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.errors import AnalysisException

from lakehouse_assets.lake import quality, versions
from lakehouse_assets.lake.bases import StagingTable
from lakehouse_assets.lake.catalog import NoTable
from lakehouse_assets.lake.contract import COMMIT, Across
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.examples import EXAMPLES, shown
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.topics import registry
from lakehouse_assets.topics.avro import matched
from lakehouse_assets.topics.kafka import HOUR, Kafka, KafkaDown, NoTopic, hour_of, now
from lakehouse_assets.topics.parse import raw_contract, strange
from lakehouse_assets.topics.position import RecordsLost, position, topic_of

LATE = timedelta(minutes=15)  # records that arrived so long ago and are unread are a standstill
USUAL_HOURS, LEAST_HOURS = 24, 6  # whose mean an hour is compared with; fewer say nothing
UNUSUAL = 4  # times more or less than that mean
NAMES_SHOWN = 20
COUNTED = ("count(*) as raw", "count_if(_error is not null) as `did not parse`")

Finding = tuple[bool, dict[str, Any]]
Find = Callable[[Lake, LakeTable, Head], Finding]


@dataclass(frozen=True)
class Look:
    """A question to a table as it stands."""

    name: str
    doc: str
    find: Find
    is_strict: bool  # a bad answer is an error, not a warning


def is_fresh(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """A quiet source is not a late one: only records that wait unread make a table late."""
    kafka = Kafka()
    topic = topic_of(kafka, head, table.topic)
    _, start = position(head, topic)
    lag = sum(topic.latest[p] - offset for p, offset in start.items())
    published = datetime.fromtimestamp(head.published_ms / 1000, timezone.utc)
    overdue = kafka.first_at(topic, now() - LATE) if lag else start
    fresh = all(start[p] >= overdue[p] for p in start)
    return fresh, {"unread offsets": lag, "last batch": f"{published:%Y-%m-%d %H:%M:%S} UTC"}


def volume_is_usual(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """The last closed hour against the mean of the day before it."""
    last = hour_of(now()) - HOUR
    since = f"{last - USUAL_HOURS * HOUR:%Y-%m-%d %H:%M}"
    counted = lake.at(head).where(f"ingest_hour >= timestamp'{since}'").groupBy("ingest_hour")
    found = counted.count().collect()
    rows = {r["ingest_hour"].astimezone(timezone.utc): r["count"] for r in found}
    before = [n for hour, n in rows.items() if hour < last]
    if len(before) < LEAST_HOURS:
        return True, {"note": f"{len(before)} earlier hours; {LEAST_HOURS} are needed to compare"}
    usual, last_rows = sum(before) / len(before), rows.get(last, 0)
    fine = usual / UNUSUAL <= last_rows <= usual * UNUSUAL
    return fine, {"hour": f"{last:%Y-%m-%d %H:%M}", "rows": last_rows, "usual": round(usual)}


def has_no_unknown_fields(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """The source's schema drifted: fields by name, and how many records have them."""
    contract = raw_contract(table)
    fields = [*contract.fields().items(), *[(name, "string") for name in contract.also or ()]]
    odd = lake.at(head).where("_error is null and _payload is not null")
    named = [
        f"coalesce(transform({names}, n -> substr(concat('{path}.', n), 3)), array())"
        for path, names in strange("cast(_payload as string)", fields)
    ]
    new = odd.selectExpr(f"explode(concat({', '.join(named)})) as field").groupBy("field").count()
    found = {r["field"]: r["count"] for r in new.orderBy("count", ascending=False).collect()}
    rows = odd.where(f"size(concat({', '.join(named)})) > 0").count()
    step = "declare the field in the contract, then `lakehouse quarantine replay`" if rows else ""
    shown = dict([*found.items()][:NAMES_SHOWN])
    return not rows, {"records": rows, "fields": shown, "next step": step}


def agrees_with_the_registry(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """The newest schema that the source registered tells what the contract does."""
    for newest in registry.versions(table.topic)[:1]:
        it = matched(newest, raw_contract(table).fields())
        odd = {"unknown": it.unknown, "missing": it.missing, "of another type": it.wrong}
        step = "bring the contract up to the source, then `lakehouse quarantine replay`"
        told = {what: ", ".join(paths) for what, paths in odd.items() if paths}
        return not told, told | ({"next step": step} if told else {"schema": newest.id})
    return True, {"note": "nobody has registered a schema"}


def reconciles_with_raw(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """Every raw record is staged, a duplicate or older version, refused, or did not parse; where
    only some are staged here, every one of those. One record may make several rows.
    """
    ((arg, raw),) = table.parents.items()
    consumed = int(head.stamp.progress.get(raw.name, (0, 0))[0])
    read = lake.at(lake.catalog.head(raw.name)).where(f"{COMMIT} <= {consumed}")
    rows = read.where(f"_error is not null or ({staging_contract(table).of})")
    made = versions.transformed(table, {arg: rows})
    accepted, _ = versions.accept(table, made, watch=False)
    (told,) = rows.selectExpr(*COUNTED).collect()
    counted = versions.count_refused(table, made)
    found = told.asDict() | {"refused": counted["refused"], "staged": head.rows}
    keys = accepted.select(*table.contract.key()).distinct().count()
    records = made.select("_record").distinct().count()
    found["duplicates and older versions"] = counted["read"] - found["refused"] - keys
    complete = found["raw"] == found["did not parse"] + records and keys == head.rows
    return complete, found | {"distinct keys accepted": keys}


def staging_contract(table: LakeTable) -> type[StagingTable]:
    if not issubclass(table.contract, StagingTable):
        raise TypeError(f"{table.name} is not made of a raw table")
    return table.contract


def across(rule: Across) -> Look:
    """What breaks a rule that no single row could: counted, with some examples, PII masked."""

    def find(lake: Lake, table: LakeTable, head: Head) -> Finding:
        bad = lake.spark.sql(rule.bad)
        count, rows = bad.count(), head.rows
        if rule.of:
            rows = lake.spark.sql(f"select 1 from {rule.of}").count()
        share = count / rows if rows else 0.0
        told = {"bad": count, "share": share, "threshold": rule.threshold, "rows": rows}
        passed = count <= quality.allowed(rule.threshold, rows)
        if not passed and News(lake, table, head).is_any:  # a run is between this and its parents
            return True, told | {"note": "not judged: the table has not read all of its parents"}
        few = shown(bad, table.contract, EXAMPLES) if count else []
        return passed, told | {"examples": few}

    return Look(rule.name, rule.doc, find, is_strict=not rule.threshold)


def found(look: Look, lake: Lake, table: LakeTable) -> Finding:
    try:
        head = lake.catalog.head(table.name)
        lake.compile(News(lake, table, head).is_large)
        return look.find(lake, table, head)
    except (NoTable, NoTopic) as nothing:
        return True, {"note": str(nothing)}
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        return True, {"note": "a table that it is compared with has no data yet"}
    except (RecordsLost, KafkaDown, ServiceError) as trouble:
        return False, {"why": str(trouble)}


def looks_of(table: LakeTable) -> list[Look]:
    plain: list[Find] = []
    if table.topic:
        plain = [is_fresh, volume_is_usual]
        if raw_contract(table).codec == "avro":
            plain += [agrees_with_the_registry]
        elif raw_contract(table).also is not None:
            plain += [has_no_unknown_fields]
    elif table.hourly:
        plain = [reconciles_with_raw]
    told = [Look(find.__name__, find.__doc__ or "", find, not table.topic) for find in plain]
    return told + [across(rule) for rule in table.contract.across]
