"""Parents to child: take the scope of the news, compute it whole, keep only the rows that differ.

A transform never applies a delta. So one batch, many batches and a rebuild agree by construction.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from lakehouse_assets.lake import scope, versions
from lakehouse_assets.lake.catalog import NoTable
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.table import LakeTable, Told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = 500_000  # rows of news whose keys are sent to every task


@dataclass
class News:
    """Which parents have something new, and the heads everything is read at."""

    pins: dict[str, Head]  # by the parent's table name; a parent that was never made has none
    fresh: list[str]
    rebuild: bool  # a parent was rebuilt: positions in its old log mean nothing

    def progress(self) -> dict[str, list[int]]:
        return {n: [h.stamp.commit, h.stamp.epoch] for n, h in self.pins.items()}

    def frame(self, lake: Lake, parent: LakeTable) -> "DataFrame":
        if parent.name in self.pins:
            return lake.at(self.pins[parent.name])
        return lake.empty(parent.contract)


def news(lake: Lake, table: LakeTable, head: Head) -> News:
    pins = {}
    for parent in (*table.parents.values(), *table.rebuilt_with):
        with suppress(NoTable):
            pins[parent.name] = lake.catalog.head(parent.name)
    fresh, rebuild = [], False
    read = {p.name for p in table.parents.values()}
    for name, pin in pins.items():
        consumed, epoch = head.stamp.progress.get(name, (0, pin.stamp.epoch))
        rebuilt = pin.stamp.epoch != epoch
        rebuild |= rebuilt
        if rebuilt or (name in read and pin.stamp.commit > consumed):
            fresh.append(name)
    return News(pins, fresh, rebuild)


def incremental(lake: Lake, table: LakeTable, head: Head, what: News, hour: str) -> Change:
    """The change that brings the table up to its parents' heads."""
    kind = table.contract.layout.scope.kind
    stamp = scope.next_stamp(
        head.stamp, progress=what.progress(), code=table.code_version(), run=lake.run, hour=hour
    )
    if what.rebuild or kind == "all":
        return whole(lake, table, head, what, stamp, epoch=head.stamp.epoch + int(what.rebuild))
    fresh = [p for p in table.parents.values() if p.name in what.fresh]
    losing = [p for p in fresh if _loses(lake, head, p)]
    if kind == "newest" and not losing:
        return _newest(lake, table, head, what, stamp)
    touched = _touched(lake, table, head, what, losing)
    if touched is None:
        return whole(lake, table, head, what, stamp, epoch=head.stamp.epoch)
    stamp = replace(stamp, corrects=bool(losing))
    keys = None if losing or kind != "keys" else _mentioned(lake, table, head, what)
    change = _recomputed(lake, table, head, what, stamp, touched, keys, by_news=keys is not None)
    return _counted_by_hour(lake, table, what, change) if losing else change


def _loses(lake: Lake, head: Head, parent: LakeTable) -> bool:
    """Whether the parent's news may have taken rows away, which its news alone would not show."""
    commits, complete = lake.catalog.commits(parent.name, _consumed(head, parent))
    return parent.removes or not complete or any(c.corrects for c in commits)


def _counted_by_hour(lake: Lake, table: LakeTable, what: News, change: Change) -> Change:
    """What was recomputed is not what an hour brought: its tally is counted anew."""
    if not table.contract.refuses or not change.stamp.hour:
        return change
    of_hour = f"ingest_hour = timestamp'{change.stamp.hour}'"
    frames = {arg: what.frame(lake, p).where(of_hour) for arg, p in table.parents.items()}
    counted = versions.count_refused(table, versions.transformed(table, frames))
    return replace(change, seen=None, carry=False, counted=counted, recount=None)


def whole(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp, epoch: int) -> Change:
    """Everything from the parents; as a replacement if the epoch rises, else as the difference."""
    frames = {arg: what.frame(lake, p) for arg, p in table.parents.items()}
    made, seen = versions.made(table, frames)
    stamp = replace(stamp, epoch=epoch, at="", ranges=None, corrects=True)
    if epoch != head.stamp.epoch:
        made = versions.with_copies(table.contract, made)
        return Change(made, "replace", stamp, seen=seen, carry=False)
    changed = versions.differences(table.contract, made, lake.at(head))
    return Change(changed, "merge", stamp, seen=seen, carry=not table.contract.refuses)


def told(lake: Lake, table: LakeTable, rows: list[Told], stamp: Stamp) -> Change:
    """Rows that were told in Python: added to a log, else in place of what stands, for they are few
    and a comparison would cost more than they do.
    """
    columns = table.contract.columns
    schema = ", ".join(f"`{n}` {c.type}" for n, c in columns.items())
    frame = lake.spark.createDataFrame([tuple(r[n] for n in columns) for r in rows], schema)
    if table.contract.layout.scope.kind == "log":
        return Change(frame, "append", stamp)
    return Change(versions.with_copies(table.contract, frame), "replace", stamp, carry=False)


def anew(lake: Lake, table: LakeTable, head: Head, hour: str) -> Change:
    """Everything about the keys that one hour's parent rows mention, from all of the parent."""
    what = news(lake, table, head)
    ((arg, parent),) = table.parents.items()
    rows = what.frame(lake, parent).where(f"ingest_hour = timestamp'{hour}'")
    mentioned = versions.transformed(table, {arg: rows})
    spans = scope.spans_of(mentioned, table.contract.layout.scope.at)
    keys = mentioned.select(*table.contract.key()).distinct()
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run, hour=hour, corrects=True
    )
    change = _recomputed(lake, table, head, what, stamp, spans, keys)
    return _counted_by_hour(lake, table, what, change)


def _newest(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp) -> Change:
    """News only: a version competes with the row that stands here, which beat all earlier ones."""
    from pyspark.sql import functions as F

    contract, at = table.contract, table.contract.layout.scope.at
    ((arg, parent),) = table.parents.items()
    consumed = _consumed(head, parent)
    staged = versions.transformed(table, {arg: _news_rows(lake, parent, head, what)})
    known = scope.touched(lake.catalog, parent.name, consumed)
    if known is not None and known[0] == at:
        spans = known[1]
    else:
        with lake.phase("scope"):
            spans = scope.spans_of(versions.accept(table, staged, watch=False)[0], at)
    accepted, seen = versions.accept(table, staged)
    stored = lake.at(head).where(scope.within(at, spans))
    # Beyond FEW, sorting both sides is cheaper than sending the keys to every task.
    if what.pins[parent.name].news_rows(consumed) <= FEW:
        keys = versions.accept(table, staged, watch=False)[0].select(*contract.key())
        stored = versions.only(stored, F.broadcast(keys), contract)
    changed = versions.overtaking(contract, accepted, stored)
    stamp = replace(stamp, at=at, ranges=scope.as_ranges(spans))
    return Change(
        changed, "merge", stamp, where=scope.within(at, spans), seen=seen,
        recount=lambda: versions.count_refused(table, staged),
    )  # fmt: skip


def _recomputed(
    lake: Lake,
    table: LakeTable,
    head: Head,
    what: News,
    stamp: Stamp,
    spans: list[scope.Span],
    keys: "DataFrame | None",
    by_news: bool = False,
) -> Change:
    """The touched keys, or all of the touched spans, from all of their parents' rows.

    `by_news`: where a parent's key is part of the table's, a touched key has no parent row but the
    one in the news; then the span around it is not read.
    """
    contract, rule = table.contract, table.contract.layout.scope
    frames, alone = {}, set()  # frames that hold nothing but what was touched
    for arg, parent in table.parents.items():
        if by_news and set(parent.contract.key()) <= set(contract.key()):
            fresh = parent.name in what.fresh
            rows = _news_rows(lake, parent, head, what) if fresh else lake.empty(parent.contract)
            frames[arg] = rows
            alone.add(arg)
            continue
        frame = what.frame(lake, parent)
        timed = rule.at in parent.contract.columns
        frames[arg] = frame.where(scope.within(rule.at, spans)) if timed else frame
    made, seen = versions.made(table, frames)
    where = scope.within_days(rule.on, spans) if rule.on else scope.within(rule.at, spans)
    old = lake.at(head).where(where)
    if keys is not None:
        made = made if alone == set(frames) else versions.only(made, keys, contract)
        old = versions.only(old, keys, contract)
    changed = versions.differences(contract, made, old)
    ranges = None if rule.on else scope.as_ranges(spans)  # a child could not prune by our days yet
    stamp = replace(stamp, at="" if rule.on else rule.at, ranges=ranges)
    return Change(changed, "merge", stamp, where=where, seen=seen)


def _touched(
    lake: Lake, table: LakeTable, head: Head, what: News, losing: list[LakeTable]
) -> list[scope.Span] | None:
    """The spans of the news; None: they cannot be told, everything has to be looked at."""
    rule, spans = table.contract.layout.scope, []
    for parent in table.parents.values():
        if parent.name not in what.fresh:
            continue
        known = scope.touched(lake.catalog, parent.name, _consumed(head, parent))
        if known is not None and known[0] == rule.at:
            spans += known[1]
        elif (parent in losing and not parent.topic) or rule.at not in parent.contract.columns:
            return None  # what is gone has no time to be found by; raw never loses a row
        else:
            with lake.phase("scope"):
                spans += scope.spans_of(_news_rows(lake, parent, head, what), rule.at)
    return scope.merge(scope.whole_days(spans) if rule.kind == "days" else spans)


def _mentioned(lake: Lake, table: LakeTable, head: Head, what: News) -> "DataFrame":
    """The keys that the news mention."""
    mentions = table.mentions or (lambda _, rows: rows.select(*table.contract.key()))
    keys = [
        mentions(arg, _news_rows(lake, parent, head, what))
        for arg, parent in table.parents.items()
        if parent.name in what.fresh
    ]
    return reduce(lambda one, other: one.unionAll(other), keys).distinct()


def _news_rows(lake: Lake, parent: LakeTable, head: Head, what: News) -> "DataFrame":
    """A parent's rows that changed since they were last read here."""
    consumed = _consumed(head, parent)
    rows = what.frame(lake, parent).where(f"{COMMIT} > {consumed}")
    known = scope.touched(lake.catalog, parent.name, consumed)
    return rows.where(scope.within(*known)) if known else rows


def _consumed(head: Head, parent: LakeTable) -> int:
    return int(head.stamp.progress.get(parent.name, (0, 0))[0])
