"""The touched scope of a table, computed again from its parents; only rows that differ change.

Keys or days are touched by news in a parent. Both the parents and the table itself are read only
where those lie.
"""

from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake import scope, versions
from lakehouse_assets.lake.contract import Scope
from lakehouse_assets.lake.head import Stamp
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.lake.table import ALL, LakeTable


@dataclass
class Touched:
    """Spans of the table's `at`, and which keys in them; None: all."""

    spans: list[scope.Span]
    keys: DataFrame | None
    by_news: bool = False  # the keys are those of the news
    are_few: bool = True  # so that every task can have all keys


def touched(news: News) -> Touched | None:
    """What the news touch; None: that cannot be told, everything has to be looked at."""
    rule = news.table.contract.layout.scope
    losing = [p for p in news.fresh.values() if news.loses(p)]
    if rule.kind == "keys" and (rule.was or not losing):
        return _touched_keys(news)
    spans: list[scope.Span] = []
    for arg, parent in news.fresh.items():
        changed = _changed(news, parent)
        if changed is None:
            return None
        rows = _mentioned(news, arg, changed) if rule.kind == "keys" else changed
        known = news.spans(parent)
        if known is not None and known[0] == rule.at:
            spans += known[1]
        elif (parent in losing and not (parent.topic or rule.was)) or rule.at not in rows.columns:
            return None  # what is gone has no time to be found by; raw never loses a row
        else:
            with news.lake.phase("scope"):
                spans += scope.spans_of(rows, rule.at)
    return Touched(scope.merge(scope.whole_days(spans) if rule.kind == "days" else spans), None)


def _touched_keys(news: News) -> Touched | None:
    """The keys that the news mention, and those under which they stand here until now. Few keys are
    fetched, with their hours: one small query, and then both sides are read by a list.
    """
    at, names = news.table.contract.layout.scope.at, news.table.contract.together()
    columns = [*names, *([at] if at else []), ALL]
    spans: list[scope.Span] = []
    named: list[DataFrame] = []
    for arg, parent in news.fresh.items():
        rows = _changed(news, parent)
        if rows is None:
            return None
        mentioned, known = _mentioned(news, arg, rows), news.spans(parent)
        stated = known[1] if known is not None and known[0] == at else None
        told = mentioned.columns
        if at and at not in told:
            if stated is None:
                return None
            mentioned = mentioned.withColumn(at, F.lit(None).cast("timestamp"))
            spans += stated
        named.append(mentioned if ALL in told else mentioned.withColumn(ALL, F.lit(False)))
        if not news.table.contract.layout.scope.was and _moves(news, parent):
            named.append(_left(news, parent, stated).withColumn(ALL, F.lit(False)))
    keys = reduce(DataFrame.unionAll, [f.select(*columns) for f in named])
    with news.lake.phase("scope"):
        small = scope.fetched(news.lake.spark, keys, names, at, ALL) if news.is_small else None
        if small[2] if small else keys.where(ALL).limit(1).count():
            return None
        found = small[1] if small else scope.spans_of(keys, at) if at else []
    are_few = small is not None or not news.is_small
    keys = small[0] if small else keys.select(*names).distinct()
    return Touched(scope.merge([*spans, *found]), keys, by_news=True, are_few=are_few)


def _changed(news: News, parent: LakeTable) -> DataFrame | None:
    """A parent's news and, if the scope asks for it, what they were; None: that has expired."""
    rows = news.rows(parent)
    if not news.table.contract.layout.scope.was:
        return rows
    was = news.was(parent)
    return None if was is None else rows.unionByName(was)


def _mentioned(news: News, arg: str, rows: DataFrame) -> DataFrame:
    """The keys that a parent's rows mention, and where they lie in time if it can be told."""
    table, parent = news.table, news.table.parents[arg]
    if table.mentions is not None:
        return table.mentions(arg, rows, news.frames())
    at = table.contract.layout.scope.at
    timed = {at} & set(parent.contract.columns) - set(table.contract.together())
    return rows.select(*table.contract.together(), *timed)


def _moves(news: News, parent: LakeTable) -> bool:
    """Whether a row of the parent may have belonged to other keys before, and we can tell which."""
    contract, key = news.table.contract, set(parent.contract.key())
    own = set(contract.together()) & set(parent.contract.columns)
    return bool(own - key) and key <= set(contract.columns)


def _left(news: News, parent: LakeTable, spans: list[scope.Span] | None) -> DataFrame:
    """The keys under which the news stand here until now."""
    at, here = news.table.contract.layout.scope.at, news.lake.at(news.head)
    if at and spans is not None:
        here = here.where(scope.within(at, spans))
    rows = F.broadcast(news.rows(parent)) if news.is_few else news.rows(parent)
    return versions.only(here, rows, parent.contract.key())


def change(news: News, stamp: Stamp, what: Touched) -> Change:
    """The touched keys, or all of the touched spans, from all of their parents' rows."""
    contract, rule = news.table.contract, news.table.contract.layout.scope
    few = news.is_few and what.are_few
    keys = F.broadcast(what.keys) if what.keys is not None and few else what.keys
    read = scope.widened(what.spans, rule.reach, rule.reach)
    frames = {a: _part(news, p, what, keys, read) for a, p in news.table.parents.items()}
    made, seen = versions.made(news.table, frames | news.here(counts=False))
    spans = scope.widened(what.spans, 0 * rule.reach, rule.reach)
    where = "true"
    if rule.on:
        where = scope.within_days(rule.on, spans)
    elif rule.at:
        where = scope.within(rule.at, spans)
    old = news.lake.at(news.head).where(where)
    if rule.reach:
        made = made.where(where)
    if keys is not None:
        parents = news.table.parents.values()
        only_news = all(_is_whole(news, p, what) for p in parents)
        if not (only_news or any(_has_keys(rule, p) for p in parents)):
            made = versions.only(made, keys, contract.together())
        old = versions.only(old, keys, contract.together())
    changed = versions.differences(contract, made, old)
    # A child could not prune by our days, and would read far too much of what is within reach.
    stated = rule.at and not (rule.on or rule.reach)
    stamp = replace(
        stamp, at=rule.at if stated else "", ranges=scope.as_ranges(spans) if stated else None
    )
    return Change(changed, "merge", stamp, where=where, seen=seen)


def _part(
    news: News, parent: LakeTable, what: Touched, keys: DataFrame | None, spans: list[scope.Span]
) -> DataFrame:
    """What of a parent the touched scope is computed from."""
    rule = news.table.contract.layout.scope
    if _is_whole(news, parent, what):
        fresh = parent in news.fresh.values()
        return news.rows(parent) if fresh else news.lake.empty(parent.contract)
    frame = news.frame(parent)
    if rule.at in parent.contract.columns:
        frame = frame.where(scope.within(rule.at, spans))
    if keys is not None and _has_keys(rule, parent):
        frame = versions.only(frame, keys, rule.together)
    return frame


def _has_keys(rule: Scope, parent: LakeTable) -> bool:
    return bool(rule.together) and {*rule.together} <= {*parent.contract.columns}


def _is_whole(news: News, parent: LakeTable, what: Touched) -> bool:
    """Where a parent's key is part of ours, a touched key has no row there but the one in the news;
    then what lies around it is not read.
    """
    contract = news.table.contract
    alone = {*parent.contract.key()} <= {*contract.key()} and not contract.layout.scope.together
    return what.by_news and alone
