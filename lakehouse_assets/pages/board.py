"""The board of all checks: what is red, since when, what to do; then every table, source and
reason. `/quality` and `lakehouse checks` show the same board.

It is read from the catalog, from Dagster's instance and from Kafka's offsets; nothing is executed
for it. What is dear is asked for less often than the rest, and told as it was.
"""

from collections import Counter
from datetime import date, datetime, timezone
from typing import Any

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.quality import MASK
from lakehouse_assets.orchestration.names import HELD
from lakehouse_assets.pages import past, verdict
from lakehouse_assets.pages.evaluations import Evaluation, Evaluations
from lakehouse_assets.pages.feeds import Lag, Lags, Quarantine
from lakehouse_assets.pages.heads import Heads
from lakehouse_assets.pages.known import Asset, Known, assets
from lakehouse_assets.pages.shared import Paced
from lakehouse_assets.pages.sources import told_of_sources
from lakehouse_assets.pages.verdict import FAILED, PASSED, UNKNOWN, WARNED, Verdict
from lakehouse_assets.services.host import HOST

EVALUATED_S, LAGS_S, QUARANTINE_S, DAYS_S = 6.0, 10.0, 20.0, 60.0  # how often each is asked
EXPLAINED = 100  # checks that are red or yellow whose examples are looked up
FRESH = "is_fresh"
MARKS = {FAILED: "f", WARNED: "w", PASSED: "p"}  # of a day, by its worst verdict; "-" for none
ORDER = (FAILED, WARNED, UNKNOWN, PASSED)

Days = dict[tuple[str, str], dict[str, list[int]]]


class Board:
    """Opened once; every look is a new answer. For one thread at a time."""

    def __init__(self) -> None:
        self._catalog = Catalog()
        self._assets = assets()
        self._known = [check for asset in self._assets.values() for check in asset.checks]
        self._past = past.Past(self._catalog)
        self._evaluations, self._lags = Evaluations(), Lags()
        self._read, self._heads = Heads(self._catalog), dict[str, Head]()
        self._newest = Paced(lambda: self._evaluations.newest(self._known), EVALUATED_S)
        self._days = Paced(lambda: self._evaluations.days(past.DAYS), DAYS_S)
        self._lag = Paced(lambda: self._lags.of(self._tables(), self._heads), LAGS_S)
        quarantine = Quarantine(self._catalog)
        self._set_aside = Paced(lambda: quarantine.reasons(self._heads), QUARANTINE_S)

    def told(self) -> dict[str, Any]:
        """Everything, as plain data: `/api/quality`."""
        heads = self._heads = self._read.now()
        newest, lags, set_aside = self._newest(), self._lag(), self._set_aside()
        history, is_whole = self._past.days(heads)
        found = {one: self._verdict(asset, one, heads, newest, lags)
                 for asset in self._assets.values() for one in asset.checks}  # fmt: skip
        self._explain(found, newest, history)
        checks = _Told(history, self._days())
        tables = [self._table(asset, heads, found, lags, checks) for asset in self._assets.values()]
        states = Counter(it.state for it in found.values())
        red = [one for one, v in found.items() if v.state in (FAILED, WARNED)]
        red.sort(key=lambda one: (ORDER.index(found[one].state), one.name != HELD,
                                  -_epoch(found[one].since), one.asset, one.name))  # fmt: skip
        return {
            "as_of": _iso(datetime.now(timezone.utc)),
            "dagster": dagster_url(),
            "days": [day.isoformat() for day in sorted(history)],
            "days_are_whole": is_whole,
            "summary": {state: states[state] for state in ORDER},
            "attention": [f"{one.asset}:{one.name}" for one in red],
            "sources": told_of_sources(self._assets, heads, lags, found, set_aside),
            "quarantine": [
                {"table": q.table, "stage": q.stage, "reason": q.reason, "records": q.records,
                 "since": _iso(q.since), "newest": _iso(q.newest)}
                for q in set_aside
            ],
            "tables": [table for table in tables if table["checks"]],
        }  # fmt: skip

    def _tables(self) -> "list[Any]":
        return [asset.table for asset in self._assets.values() if asset.table]

    def _verdict(
        self, asset: Asset, one: Known, heads: dict[str, Head],
        newest: dict[dg.AssetCheckKey, Evaluation], lags: dict[str, Lag],
    ) -> Verdict:  # fmt: skip
        head = heads.get(asset.name)
        found = verdict.judged(one, asset.table, head, newest.get(one.key))
        lag = lags.get(asset.name)
        if head is None or lag is None:
            return found
        if one.name == HELD and lag.is_late and lag.note and not head.held:  # records are lost
            return Verdict(FAILED, since=_published(head), why=lag.note)
        if one.name == FRESH and lag.unread is not None:  # asked now, not once a day
            if not lag.is_late:
                return Verdict(PASSED)
            why = f"{lag.unread:,} records wait, some of them for more than 15 minutes"
            step = f"`lakehouse status` tells what does not run; {asset.name} is read by its sensor"
            return Verdict(WARNED, since=_published(head), why=why, step=step)
        return found

    def _explain(
        self, found: dict[Known, Verdict], newest: dict[dg.AssetCheckKey, Evaluation],
        history: dict[date, dict[past.Place, past.Day]],
    ) -> None:  # fmt: skip
        """Since when, and examples, of what is red or yellow."""
        bad = [one for one, v in found.items() if v.state in (FAILED, WARNED)]
        bad.sort(key=lambda one: ORDER.index(found[one].state))
        for place, one in enumerate(bad):
            it, evaluation = found[one], newest.get(one.key)
            if one.rule:  # of which Dagster keeps less
                it.since = past.since(history, (one.asset, one.name))
            if evaluation is None or evaluation.passed or place >= EXPLAINED:
                it.since = it.since or it.at
                continue
            failing = self._evaluations.failing(one, evaluation)
            it.since = it.since or failing.since
            it.examples = self._masked(one, failing.examples)
            it.examples_at = failing.examples_at

    def _masked(self, one: Known, examples: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Once more, since a column may have been marked as private after they were stored."""
        table = self._assets[one.asset].table
        pii = table.contract.pii() if table else ()
        return [{name: MASK if name in pii and value is not None else value
                 for name, value in row.items()} for row in examples]  # fmt: skip

    def _table(
        self, asset: Asset, heads: dict[str, Head], found: dict[Known, Verdict],
        lags: dict[str, Lag], checks: "_Told",
    ) -> dict[str, Any]:  # fmt: skip
        head, lag = heads.get(asset.name), lags.get(asset.name)
        states = Counter(found[one].state for one in asset.checks)
        held = head.held if head else None
        return {
            "name": asset.name, "owner": asset.owner, "source": asset.source,
            "layer": asset.name.split(".")[0], "url": asset_url(asset.name),
            "doc": asset.table.contract.doc().splitlines()[0] if asset.table else "",
            "rows": head.rows if head else None,
            "published_at": _iso(_published(head)) if head and head.stamp.commit else None,
            "unread": lag.unread if lag else None,
            "behind": _behind(head, heads) if head and not lag else None,
            "note": lag.note if lag else "" if head or not asset.table else "not made yet",
            "held": {"since": held.since, "why": held.why, "batch": held.stamp.commit,
                     "branch": held.branch, "release": f"lakehouse release {asset.name}"}
                    if held else None,
            "states": {state: states[state] for state in ORDER},
            "checks": [checks.of(asset, one, found[one]) for one in asset.checks],
        }  # fmt: skip


class _Told:
    """Checks as plain data, with their days."""

    def __init__(self, history: dict[date, dict[past.Place, past.Day]], evaluated: Days) -> None:
        self._history, self._evaluated = history, evaluated

    def of(self, asset: Asset, one: Known, it: Verdict) -> dict[str, Any]:
        is_bad = it.state in (FAILED, WARNED)
        marks, judged, failed = self._days(asset, one, it)
        return {
            "check": one.name, "doc": one.doc, "state": it.state, "at": _iso(it.at),
            "since": _iso(it.since) if is_bad else None,
            "failed": it.failed, "rows": it.rows, "allowed": it.allowed,
            "threshold": it.threshold, "hour": it.partition,
            "why": verdict.sentence(one, it) if is_bad else "",
            "step": verdict.next_step(one, asset.table, it) if is_bad else "",
            "told": it.told, "examples": it.examples, "examples_at": _iso(it.examples_at),
            "days": marks, "judged": judged, "days_failed": failed,
            "url": asset_url(asset.name, one.name),
        }  # fmt: skip

    def _days(self, asset: Asset, one: Known, it: Verdict) -> tuple[str, int, int]:
        """A letter for each day, oldest first; how many verdicts, how many of them failed."""
        place, marks, judged, failures = (asset.name, one.name), "", 0, 0
        bad = self._bad(asset, it)
        for day in sorted(self._history):
            kept = self._history[day].get(place) or past.Day()
            passed, failed = self._evaluated.get(place, {}).get(day.isoformat(), [0, 0])
            if one.rule:  # of which a batch's evaluation is in the history already
                passed, failed = kept.passed, kept.failed
            marks += bad if failed else MARKS[PASSED] if passed else "-"
            judged, failures = judged + passed + failed, failures + failed
        if it.state in (FAILED, WARNED) and marks.endswith("-"):  # it still is, if not judged today
            marks = f"{marks[:-1]}{bad}"
        return marks, judged, failures

    @staticmethod
    def _bad(asset: Asset, it: Verdict) -> str:
        if it.state in (FAILED, WARNED):
            return MARKS[it.state]
        measured = asset.name.split(".")[0] in verdict.MEASURED
        return MARKS[WARNED if measured else FAILED]


def dagster_url() -> str:
    return f"http://{HOST}:{settings.port('dagster')}"


def asset_url(name: str, check: str = "") -> str:
    """In Dagster's UI."""
    place = f"{dagster_url()}/assets/{name.replace('.', '/')}"
    return f"{place}?view=checks&checkDetail={check}" if check else place


def _behind(head: Head, heads: dict[str, Head]) -> int:
    """Batches of its parents that it has not taken; of those that it does not read (-1) none."""
    pairs = [(heads[p], t) for p, t in head.stamp.progress.items()
             if p in heads and isinstance(t, list) and t[0] >= 0]  # fmt: skip
    return sum(
        parent.stamp.commit - (commit if parent.stamp.epoch == epoch else 0)
        for parent, (commit, epoch) in pairs
    )


def _published(head: Head) -> datetime:
    return datetime.fromtimestamp(head.published_ms / 1000, timezone.utc)


def _epoch(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


def _iso(moment: datetime | None) -> str | None:
    return moment.astimezone(timezone.utc).isoformat(timespec="seconds") if moment else None
