"""Parents to child: take the scope of the news, compute it whole, keep only the rows that differ.

A transform never applies a delta. So one batch, many batches and a rebuild agree by construction.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakehouse_assets.lake import quality, scope
from lakehouse_assets.lake.catalog import Head, Stamp
from lakehouse_assets.lake.contract import COMMIT, Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

ARRIVED = "arrived_at"  # of two deliveries with the same content the first to arrive stands


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
    if kind == "newest":
        return _newest(lake, table, head, what, stamp)
    return _recomputed(lake, table, head, what, stamp)


def whole(
    lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp, epoch: int
) -> Change:
    """Everything from the parents; as a replacement if the epoch rises, else as the difference."""
    frames = {arg: lake.at(what.pins[p.name]) for arg, p in table.parents.items()}
    made, seen = _made(table, frames)
    if epoch != head.stamp.epoch:
        stamp = replace(stamp, epoch=epoch, at="", ranges=None)
        return Change(made, "replace", stamp, seen=seen, carry=False)
    stamp = replace(stamp, at="", ranges=None)
    return Change(_differences(table.contract, made, lake.at(head)), "merge", stamp, seen=seen)


def anew(lake: Lake, table: LakeTable, head: Head, what: News, hour: str) -> Change:
    """Everything about the keys that one hour's parent rows mention, from all of the parent."""
    at = table.contract.layout.scope.at
    (arg, parent), = table.parents.items()
    rows = lake.at(what.pins[parent.name])
    mentioned = transformed(table, {arg: rows.where(f"ingest_hour = timestamp'{hour}'")})
    spans = scope.spans_of(mentioned, at)
    keys = mentioned.select(*table.contract.key()).distinct()
    everything = transformed(table, {arg: rows})
    made, _ = _accept(table, everything.where(scope.within(at, spans)), watch=False)
    old = lake.at(head).where(scope.within(at, spans))
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run, hour=hour,
        at=at, ranges=scope.as_ranges(spans),
    )  # fmt: skip
    fresh = _winners(table.contract, _only(made, keys, table.contract))
    changed = _differences(table.contract, fresh, _only(old, keys, table.contract))
    where, counted = scope.within(at, spans), _count(table, mentioned)
    return Change(changed, "merge", stamp, where=where, carry=not counted, counted=counted)


def _newest(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp) -> Change:
    """News only: a version competes with the row that stands here, which beat all earlier ones."""
    from pyspark.sql import functions as F

    contract, at = table.contract, table.contract.layout.scope.at
    (arg, parent), = table.parents.items()
    consumed = head.stamp.progress.get(parent.name, (0, 0))[0]
    known = scope.touched(lake.catalog, parent.name, consumed)
    rows = lake.at(what.pins[parent.name]).where(f"{COMMIT} > {consumed}")
    if known is not None:
        rows = rows.where(scope.within(*known))
    staged = transformed(table, {arg: rows})
    if known is not None and known[0] == at:
        spans = known[1]
    else:
        with lake.phase("scope"):
            spans = scope.spans_of(_accept(table, staged, watch=False)[0], at)
    accepted, seen = _accept(table, staged)
    best = accepted.groupBy(*contract.key()).agg(F.max(_standing(contract)).alias("_best"))
    stored = lake.at(head).where(scope.within(at, spans))
    old = stored.select(
        *[F.col(k).alias(f"_k{i}") for i, k in enumerate(contract.key())],
        _standing(contract).alias("_stands"),
        F.expr(quality.failures(contract.all_rules())).alias("_old"),
    )
    same = [F.col(k) == F.col(f"_k{i}") for i, k in enumerate(contract.key())]
    joined = best.join(old, same, how="left").where("_stands is null or _best > _stands")
    changed = _unpacked(contract, joined).withColumns(
        {
            "_op": F.expr("if(_stands is null, 'I', 'U')"),
            "_new": F.expr(quality.failures(contract.all_rules())),
            "_old": F.expr("coalesce(_old, 0L)"),
            "_copies": F.lit(1),
        }
    )
    stamp = replace(stamp, at=at, ranges=scope.as_ranges(spans))
    return Change(changed, "merge", stamp, where=scope.within(at, spans), seen=seen)


def _recomputed(lake: Lake, table: LakeTable, head: Head, what: News, stamp: Stamp) -> Change:
    """The touched keys or days, from all of their parents' rows."""
    contract, rule = table.contract, table.contract.layout.scope
    spans, mentions = _mentions(lake, table, head, what)
    frames = {}
    for arg, parent in table.parents.items():
        frame = lake.at(what.pins[parent.name])
        frames[arg] = frame.where(scope.within(rule.at, spans)) if rule.at in frame.columns else frame
    made, seen = _made(table, frames)
    where = scope.within_days(rule.on, spans) if rule.on else scope.within(rule.at, spans)
    old = lake.at(head).where(where)
    if mentions is not None:
        made, old = _only(made, mentions, contract), _only(old, mentions, contract)
    changed = _differences(contract, made, old)
    ranges = None if rule.on else scope.as_ranges(spans)  # a child could not prune by our days yet
    stamp = replace(stamp, at="" if rule.on else rule.at, ranges=ranges)
    return Change(changed, "merge", stamp, where=where, seen=seen)


def _mentions(
    lake: Lake, table: LakeTable, head: Head, what: News
) -> "tuple[list[scope.Span], DataFrame | None]":
    """The spans of the news and, for a scope of keys, the keys it mentions."""
    contract, rule = table.contract, table.contract.layout.scope
    spans: list[scope.Span] = []
    keys: DataFrame | None = None
    for arg, parent in table.parents.items():
        if parent.name not in what.fresh:
            continue
        consumed = head.stamp.progress.get(parent.name, (0, 0))[0]
        known = scope.touched(lake.catalog, parent.name, consumed)
        rows = lake.at(what.pins[parent.name]).where(f"{COMMIT} > {consumed}")
        rows = rows.where(scope.within(*known)) if known else rows
        with lake.phase("scope"):
            stated = known is not None and known[0] == rule.at
            spans += known[1] if known and stated else scope.spans_of(rows, rule.at)
        if rule.kind == "keys":
            mine = table.mentions(arg, rows) if table.mentions else rows.select(*contract.key())
            keys = mine if keys is None else keys.unionAll(mine)
    days = scope.whole_days(spans) if rule.kind == "days" else spans
    return scope.merge(days), keys.distinct() if keys is not None else None


def _count(table: LakeTable, staged: "DataFrame") -> dict[str, int]:
    """What `_accept` would have watched, as a query of its own; nothing for a table that refuses nothing."""
    from pyspark.sql import functions as F

    if not table.contract.refuses:
        return {}
    rules = table.contract.all_rules()
    judged = staged.withColumn("_broken", F.expr(quality.failures(rules)))
    row = judged.agg(*_refusals(table.contract)).first()
    return {k: int(v or 0) for k, v in row.asDict().items()} if row else {}


def _refusals(contract: type[Table]) -> "list[Column]":
    from pyspark.sql import functions as F

    return [
        F.count(F.lit(1)).alias("read"),
        F.expr("count_if(_broken != 0L)").alias("refused"),
        *quality.counts(contract.all_rules(), "_broken"),
    ]


def transformed(table: LakeTable, frames: "dict[str, DataFrame]") -> "DataFrame":
    if table.transform is None:
        raise TypeError(f"{table.name} has no transform")
    made = table.transform(**frames)
    _same_columns(table.contract, made)
    return made.select(*[f"`{c}`" for c in table.contract.columns])


def _made(
    table: LakeTable, frames: "dict[str, DataFrame]"
) -> "tuple[DataFrame, Observation | None]":
    accepted, seen = _accept(table, transformed(table, frames))
    newest = table.contract.layout.scope.kind == "newest"
    return (_winners(table.contract, accepted) if newest else accepted), seen


def _accept(
    table: LakeTable, staged: "DataFrame", watch: bool = True
) -> "tuple[DataFrame, Observation | None]":
    """A table that refuses keeps the rows that break no rule, and counts the others."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    rules = table.contract.all_rules()
    if not table.contract.refuses:
        return staged, None
    judged = staged.withColumn("_broken", F.expr(quality.failures(rules)))
    seen = None
    if watch:
        seen = Observation()
        judged = judged.observe(seen, *_refusals(table.contract))
    return judged.where("_broken = 0L").drop("_broken"), seen


def _standing(contract: type[Table]) -> "Column":
    """What decides between versions: `by`, then all content, then who came first. It is the row."""
    from pyspark.sql import functions as F

    by = contract.layout.scope.by
    rest = [c for c in contract.columns if c not in (by, ARRIVED, *contract.key())]
    last = [F.expr(f"-unix_micros({ARRIVED})").alias(ARRIVED)] if ARRIVED in contract.columns else []
    return F.struct(F.col(by), *[F.col(f"`{c}`") for c in rest], *last)


def _unpacked(contract: type[Table], frame: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    columns = {
        c: F.expr(f"timestamp_micros(-_best.{ARRIVED})") if c == ARRIVED else F.col(f"_best.`{c}`")
        for c in contract.columns
        if c not in contract.key()
    }
    return frame.withColumns(columns)


def _winners(contract: type[Table], versions: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    best = versions.groupBy(*contract.key()).agg(F.max(_standing(contract)).alias("_best"))
    return _unpacked(contract, best).select(*[f"`{c}`" for c in contract.columns])


def _only(frame: "DataFrame", keys: "DataFrame", contract: type[Table]) -> "DataFrame":
    from pyspark.sql import functions as F

    named = keys.select(*[F.col(k).alias(f"_k{i}") for i, k in enumerate(contract.key())])
    same = [F.col(k).eqNullSafe(F.col(f"_k{i}")) for i, k in enumerate(contract.key())]
    return frame.join(named, same, how="left_semi")


def _differences(contract: type[Table], made: "DataFrame", old: "DataFrame") -> "DataFrame":
    """Rows to insert, update and delete: a full join by key that drops what is equal."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    content = [c for c in contract.columns if not c.startswith("_")]
    mask = F.expr(quality.failures(contract.all_rules()))
    whole_row = F.struct(*[F.col(f"`{c}`") for c in contract.columns])
    same_key = Window.partitionBy(*contract.key())
    keys = contract.key()
    new = made.select(
        *[F.col(k).alias(f"_n{i}") for i, k in enumerate(keys)],
        whole_row.alias("_row"), mask.alias("_new"), F.count(F.lit(1)).over(same_key).alias("_copies"),
    )  # fmt: skip
    was = old.select(
        *[F.col(k).alias(f"_o{i}") for i, k in enumerate(keys)],
        whole_row.alias("_was"), mask.alias("_old"),
    )  # fmt: skip
    same = [F.col(f"_n{i}").eqNullSafe(F.col(f"_o{i}")) for i in range(len(keys))]
    joined = new.join(was, same, how="full")
    equal = " and ".join(f"_row.`{c}` <=> _was.`{c}`" for c in content)
    op = f"case when _was is null then 'I' when _row is null then 'D' when not ({equal}) then 'U' end"
    changed = joined.withColumn("_op", F.expr(op)).where("_op is not null")
    return changed.select(
        *[F.expr(f"coalesce(_row.`{c}`, _was.`{c}`)" if c in keys else f"_row.`{c}`").alias(c)
          for c in contract.columns],
        "_op", F.expr("coalesce(_new, 0L)").alias("_new"), F.expr("coalesce(_old, 0L)").alias("_old"),
        F.expr("coalesce(_copies, 1L)").alias("_copies"),
    )  # fmt: skip


def _same_columns(contract: type[Table], made: "DataFrame") -> None:
    """The schema check before any write: names and types as declared."""
    found = {f.name: f.dataType.simpleString() for f in made.schema.fields}
    for name, column in contract.columns.items():
        wanted = column.type.replace(" ", "")
        if name not in found:
            raise TypeError(f"{contract.name}: the transform gives no column {name}; has {list(found)}")
        if found[name] != wanted:
            raise TypeError(
                f"{contract.name}: {name} is {found[name]}, the contract says {wanted}; cast it in the transform"
            )
