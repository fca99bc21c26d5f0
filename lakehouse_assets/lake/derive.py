"""Parents to child: take the scope of the news, compute it whole, keep only the rows that differ.

A transform never applies a delta. So one batch, many batches and a rebuild agree by construction.
Only a table of kind `own` goes on from its rows, and answers for that itself.
"""

from dataclasses import replace
from datetime import datetime

from lakehouse_assets.lake import recompute, scope, versions
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.table import LakeTable, Told

BATCHES = "table string, commit bigint, at timestamp, seconds double"


class Expired(Exception):
    """A log was left behind for so long that it can no longer be told what it missed."""


def incremental(news: News, hour: str) -> Change:
    """The change that brings the table up to its parents' heads."""
    kind, stamp = news.table.contract.layout.scope.kind, news.stamp(hour)
    epoch = news.head.stamp.epoch
    if kind == "log":
        return _told_of(news, stamp)
    first = kind != "newest" and not news.head.stamp.progress
    if news.rebuilt or kind == "all" or first:
        return whole(news, stamp, epoch=epoch + int(news.rebuilt))
    news.lake.compile(not news.is_small or bool(news.table.contract.layout.scope.reach))
    losing = any(news.loses(parent) for parent in news.fresh.values())
    if kind == "newest" and not losing:
        return _newest(news, stamp)
    if kind == "own" and not losing:
        new = {a: news.lake.empty(p.contract) for a, p in news.table.parents.items()}
        new |= {a: news.rows(p) for a, p in news.fresh.items()}
        made, old = versions.instead(news.table, new | news.here(counts=True))
        return Change(versions.differences(news.table.contract, made, old), "merge", stamp)
    touched = recompute.touched(news)
    if touched is None:
        return whole(news, stamp, epoch=epoch)
    change = recompute.change(news, replace(stamp, corrects=losing), touched)
    return _counted_by_hour(news, change) if losing else change


def _counted_by_hour(news: News, change: Change) -> Change:
    """What was recomputed is not what an hour brought: its tally is counted anew."""
    if not news.table.contract.refuses or not change.stamp.hour:
        return change
    of_hour = f"ingest_hour = timestamp'{change.stamp.hour}'"
    frames = {arg: frame.where(of_hour) for arg, frame in news.frames().items()}
    counted = versions.count_refused(news.table, versions.transformed(news.table, frames))
    return replace(change, seen=None, carry=False, counted=counted, recount=None)


def whole(news: News, stamp: Stamp, epoch: int) -> Change:
    """Everything from the parents; as a replacement if the epoch rises, else as the difference."""
    contract, head = news.table.contract, news.head
    news.lake.compile(news.is_large)
    made, seen = versions.made(news.table, news.frames() | news.here(counts=False))
    stamp = replace(stamp, epoch=epoch, at="", ranges=None, corrects=True)
    if epoch != head.stamp.epoch:
        made = versions.with_copies(contract, made)
        return Change(made, "replace", stamp, seen=seen, carry=False, has_copies=True)
    changed = versions.differences(contract, made, news.lake.at(head))
    return Change(changed, "merge", stamp, seen=seen, carry=not contract.refuses)


def _told_of(news: News, stamp: Stamp) -> Change:
    """Rows about what the parents' rows became: as `<parent>` they are now, all of them, as
    `<parent>_new` those that changed, as `<parent>_old` what these were; and the `batches`.
    """
    news.lake.compile(not news.is_small)
    told = [(p.name, t["commit"], datetime.fromisoformat(t["at"]), t.get("seconds", 0.0))
            for p in news.fresh.values() for t in news.pins[p.name].tallies
            if t["commit"] > news.consumed(p)]  # fmt: skip
    frames = news.frames() | {"batches": news.lake.spark.createDataFrame(told, BATCHES)}
    for arg, parent in news.table.parents.items():
        was = news.was(parent)
        if was is None:
            raise Expired(
                f"{news.table.name}: what {parent.name} was at batch {news.consumed(parent)} has "
                "expired, so what it became since cannot be told. "
                f"`lakehouse drop {news.table.name}` lets it begin anew"
            )
        frames |= {f"{arg}_new": news.rows(parent), f"{arg}_old": was}
    return Change(versions.transformed(news.table, frames), "append", stamp)


def told(lake: Lake, table: LakeTable, rows: list[Told], stamp: Stamp) -> Change:
    """Rows that were told in Python: added to a log, else in place of what stands, for they are few
    and a comparison would cost more than they do.
    """
    lake.compile(False)
    columns = table.contract.columns
    schema = ", ".join(f"`{n}` {c.type}" for n, c in columns.items())
    frame = lake.spark.createDataFrame([tuple(r[n] for n in columns) for r in rows], schema)
    if table.contract.layout.scope.kind == "log":
        return Change(frame, "append", stamp)
    frame = versions.with_copies(table.contract, frame)
    return Change(frame, "replace", stamp, carry=False, has_copies=True)


def anew(lake: Lake, table: LakeTable, head: Head, hour: str) -> Change:
    """Everything about the keys that one hour's parent rows mention, from all of the parent."""
    news = News(lake, table, head)
    ((arg, parent),) = table.parents.items()
    rows = news.frame(parent).where(f"ingest_hour = timestamp'{hour}'")
    mentioned = versions.transformed(table, {arg: rows})
    at = table.contract.layout.scope.at
    spans = scope.spans_of(mentioned, at) if at else []
    keys = mentioned.select(*table.contract.key()).distinct()
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run, hour=hour, corrects=True
    )
    change = recompute.change(news, stamp, recompute.Touched(spans, keys))
    return _counted_by_hour(news, change)


def _newest(news: News, stamp: Stamp) -> Change:
    """News only: a version competes with the row that stands here, which beat all earlier ones."""
    from pyspark.sql import functions as F

    table, contract, at = news.table, news.table.contract, news.table.contract.layout.scope.at
    ((arg, parent),) = table.parents.items()
    staged = versions.transformed(table, {arg: news.rows(parent)})
    keys, known = versions.accept(table, staged, watch=False)[0], news.spans(parent)
    spans: list[scope.Span] = []
    with news.lake.phase("scope"):
        small = scope.fetched(news.lake.spark, keys, contract.key(), at) if news.is_small else None
        if small is not None:
            keys, spans, _ = small
        elif known is not None and known[0] == at:
            spans = known[1]
        elif at:
            spans = scope.spans_of(keys, at)
    where = scope.within(at, spans) if at else "true"
    accepted, seen = versions.accept(table, staged)
    stored = news.lake.at(news.head).where(where)
    if news.is_few:
        keys = F.broadcast(keys.select(*contract.key()))
        stored = versions.only(stored, keys, contract.key())
    changed = versions.overtaking(contract, accepted, stored)
    stamp = replace(stamp, at=at, ranges=scope.as_ranges(spans) if at else None)
    return Change(
        changed, "merge", stamp, where=where, seen=seen,
        recount=lambda: versions.count_refused(table, staged),
    )  # fmt: skip
