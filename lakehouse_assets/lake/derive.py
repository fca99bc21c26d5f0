"""Parents to child: take the scope of the news, compute it whole, keep only the rows that differ.

A transform never applies a delta. So one batch, many batches and a rebuild agree by construction.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from lakehouse_assets.lake import quality, scope, versions
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

    pins: dict[str, Head]  # by the parent's table name
    fresh: list[str]
    rebuild: bool  # a parent was rebuilt: positions in its old log mean nothing

    def progress(self) -> dict[str, list[int]]:
        return {n: [h.stamp.commit, h.stamp.epoch] for n, h in self.pins.items()}


def news(lake: Lake, table: LakeTable, head: Head) -> News:
    pins = {p.name: lake.catalog.head(p.name) for p in table.parents.values()}
    fresh, rebuild = [], False
    for name, pin in pins.items():
        consumed, epoch = head.stamp.progress.get(name, (0, pin.stamp.epoch))
        if pin.stamp.epoch != epoch:
            rebuild = True
        if pin.stamp.commit > consumed or pin.stamp.epoch != epoch:
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
    removing = [p.name for p in table.parents.values() if p.removes and p.name in what.fresh]
    if kind == "newest" and not removing:
        return _newest(lake, table, head, what, stamp)
    touched = _touched(lake, table, head, what)
    if touched is None:
        return whole(lake, table, head, what, stamp, epoch=head.stamp.epoch)
    keys = None if removing or kind != "keys" else _mentioned(lake, table, head, what)
    return _recomputed(lake, table, head, what, stamp, touched, keys)


def whole(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp, epoch: int) -> Change:
    """Everything from the parents; as a replacement if the epoch rises, else as the difference."""
    frames = {arg: lake.at(what.pins[p.name]) for arg, p in table.parents.items()}
    made, seen = versions.made(table, frames)
    if epoch != head.stamp.epoch:
        stamp = replace(stamp, epoch=epoch, at="", ranges=None)
        return Change(made, "replace", stamp, seen=seen, carry=False)
    stamp = replace(stamp, at="", ranges=None)
    changed = versions.differences(table.contract, made, lake.at(head))
    return Change(changed, "merge", stamp, seen=seen, carry=not table.contract.refuses)


def told(lake: Lake, table: LakeTable, head: Head, rows: list[Told], stamp: Stamp) -> Change:
    """Rows that were told in Python: added to a log, else compared with what stands."""
    columns = table.contract.columns
    schema = ", ".join(f"`{n}` {c.type}" for n, c in columns.items())
    frame = lake.spark.createDataFrame([tuple(r[n] for n in columns) for r in rows], schema)
    if table.contract.layout.scope.kind == "log":
        return Change(frame, "append", stamp)
    return Change(versions.differences(table.contract, frame, lake.at(head)), "merge", stamp)


def anew(lake: Lake, table: LakeTable, head: Head, hour: str) -> Change:
    """Everything about the keys that one hour's parent rows mention, from all of the parent."""
    what = news(lake, table, head)
    ((arg, parent),) = table.parents.items()
    rows = lake.at(what.pins[parent.name]).where(f"ingest_hour = timestamp'{hour}'")
    mentioned = versions.transformed(table, {arg: rows})
    spans = scope.spans_of(mentioned, table.contract.layout.scope.at)
    keys = mentioned.select(*table.contract.key()).distinct()
    stamp = scope.next_stamp(head.stamp, code=table.code_version(), run=lake.run, hour=hour)
    counted = versions.count_refused(table, mentioned)
    change = _recomputed(lake, table, head, what, stamp, spans, keys)
    return replace(change, seen=None, carry=not counted, counted=counted)


def _newest(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp) -> Change:
    """News only: a version competes with the row that stands here, which beat all earlier ones."""
    from pyspark.sql import functions as F

    contract, at = table.contract, table.contract.layout.scope.at
    ((arg, parent),) = table.parents.items()
    consumed = _consumed(head, parent)
    staged = versions.transformed(table, {arg: _news_rows(lake, parent, head, what)})
    spans = _spans(lake, table, parent, consumed, staged)
    accepted, seen = versions.accept(table, staged)
    best = accepted.groupBy(*contract.key()).agg(F.max(versions.standing(contract)).alias("_best"))
    stored = lake.at(head).where(scope.within(at, spans))
    # Beyond FEW, sorting both sides is cheaper than sending the keys to every task.
    if what.pins[parent.name].news_rows(consumed) <= FEW:
        keys = versions.accept(table, staged, watch=False)[0].select(*contract.key())
        stored = versions.only(stored, F.broadcast(keys), contract)
    old = stored.select(
        *[F.col(k).alias(f"_o{i}") for i, k in enumerate(contract.key())],
        versions.standing(contract).alias("_stands"),
        F.expr(quality.failures(contract.all_rules())).alias("_old"),
    )
    same = [F.col(k).eqNullSafe(F.col(f"_o{i}")) for i, k in enumerate(contract.key())]
    joined = best.join(old, same, how="left").where("_stands is null or _best > _stands")
    changed = versions.unpacked(contract, joined).withColumns(
        {
            "_op": F.expr("if(_stands is null, 'I', 'U')"),
            "_new": F.expr(quality.failures(contract.all_rules())),
            "_old": F.expr("coalesce(_old, 0L)"),
            "_copies": F.lit(1),
        }
    )
    stamp = replace(stamp, at=at, ranges=scope.as_ranges(spans))
    return Change(
        changed, "merge", stamp, where=scope.within(at, spans), seen=seen,
        recount=lambda: versions.count_refused(table, staged),
    )  # fmt: skip


def _spans(
    lake: Lake, table: LakeTable, parent: LakeTable, consumed: int, staged: "DataFrame"
) -> list[scope.Span]:
    """Where the accepted news lie: as the parent's commits tell it, or by looking."""
    at = table.contract.layout.scope.at
    known = scope.touched(lake.catalog, parent.name, consumed)
    if known is not None and known[0] == at:
        return known[1]
    with lake.phase("scope"):
        return scope.spans_of(versions.accept(table, staged, watch=False)[0], at)


def _recomputed(
    lake: Lake,
    table: LakeTable,
    head: Head,
    what: News,
    stamp: Stamp,
    spans: list[scope.Span],
    keys: "DataFrame | None",
) -> Change:
    """The touched keys, or all of the touched spans, from all of their parents' rows."""
    contract, rule = table.contract, table.contract.layout.scope
    frames = {}
    for arg, parent in table.parents.items():
        frame = lake.at(what.pins[parent.name])
        timed = rule.at in parent.contract.columns
        frames[arg] = frame.where(scope.within(rule.at, spans)) if timed else frame
    made, seen = versions.made(table, frames)
    where = scope.within_days(rule.on, spans) if rule.on else scope.within(rule.at, spans)
    old = lake.at(head).where(where)
    if keys is not None:
        made, old = versions.only(made, keys, contract), versions.only(old, keys, contract)
    changed = versions.differences(contract, made, old)
    ranges = None if rule.on else scope.as_ranges(spans)  # a child could not prune by our days yet
    stamp = replace(stamp, at="" if rule.on else rule.at, ranges=ranges)
    return Change(changed, "merge", stamp, where=where, seen=seen)


def _touched(lake: Lake, table: LakeTable, head: Head, what: News) -> list[scope.Span] | None:
    """The spans of the news; None: they cannot be told, everything has to be looked at."""
    rule, spans = table.contract.layout.scope, []
    for parent in table.parents.values():
        if parent.name not in what.fresh:
            continue
        known = scope.touched(lake.catalog, parent.name, _consumed(head, parent))
        if known is not None and known[0] == rule.at:
            spans += known[1]
        elif parent.removes or rule.at not in parent.contract.columns:
            return None
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
    rows = lake.at(what.pins[parent.name]).where(f"{COMMIT} > {consumed}")
    known = scope.touched(lake.catalog, parent.name, consumed)
    return rows.where(scope.within(*known)) if known else rows


def _consumed(head: Head, parent: LakeTable) -> int:
    return int(head.stamp.progress.get(parent.name, (0, 0))[0])
