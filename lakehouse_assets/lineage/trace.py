"""From rows of any table back to Kafka: parents' rows, commits, runs, and where a trail ends.

Each step is one query for all rows that are followed. Of many rows that a row was made of some are
followed, and all are counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.catalog import NoTable, stamped
from lakehouse_assets.lake.contract import CHECKPOINT, COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.lineage.links import Link, NoLink, link

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOLLOWED = 3  # rows of each parent of each row
MANY = 1_000  # rows that are followed at once
Row = dict[str, Any]


@dataclass(frozen=True)
class Commit:
    """The batch that last changed a row. Of one whose snapshot has expired only the number."""

    number: int
    published_at: str = ""  # ISO, UTC
    run: str = ""  # Dagster's, or the command that it was
    code_version: str = ""
    attempt: int | None = None  # of a table with a commit log

    @property
    def is_known(self) -> bool:
        return bool(self.published_at)


@dataclass
class Step:
    """What a row was made of in one parent."""

    parent: str
    how: str
    is_exact: bool
    rows: int = 0  # all there are; some are followed
    traces: "list[Trace]" = field(default_factory=list)
    ends: str = ""  # why the trail ends here


@dataclass
class Trace:
    """A row, its commit, and the way on."""

    table: str
    key: Row
    commit: Commit
    kafka: Row | None = None
    steps: list[Step] = field(default_factory=list)
    ends: str = ""

    def records(self) -> "Iterator[Trace]":
        """The raw rows that it leads to."""
        if self.kafka:
            yield self
        for step in self.steps:
            for trace in step.traces:
                yield from trace.records()

    @property
    def is_traced(self) -> bool:
        return next(self.records(), None) is not None


class Tracer:
    """Everything is read at one head for each table."""

    def __init__(self, lake: Lake, followed: int = FOLLOWED) -> None:
        self.lake, self.followed = lake, followed
        self._heads: dict[str, Head] = {}
        self._commits: dict[str, dict[int, Commit]] = {}
        self._known: dict[tuple[str, str], Trace] = {}  # a row is followed once

    def trace(self, table: LakeTable, where: str, limit: int) -> list[Trace]:
        rows = self.read(table).where(where).limit(limit)
        return self.follow(table, fetched(rows).to_pylist())

    def follow(self, table: LakeTable, rows: list[Row]) -> list[Trace]:
        """The rows as `read` gives them, all of one table."""
        found, fresh = [], []
        for row in rows:
            place = (table.name, repr([row[k] for k in table.contract.key()]))
            if place not in self._known:
                self._known[place] = self._told(table, row)
                fresh.append((self._known[place], row))
            found.append(self._known[place])
        for start in range(0, len(fresh), MANY):
            self._on(table, fresh[start : start + MANY])
        return found

    def _on(self, table: LakeTable, fresh: list[tuple[Trace, Row]]) -> None:
        if not table.parents:
            why = "" if table.topic else "it tells of the lake or the day, and is made of no rows"
            for trace, _ in fresh:
                trace.ends = why
            return
        for parent in {p.name: p for p in table.parents.values()}.values():
            way = link(self.lake, table, parent)
            if isinstance(way, NoLink):
                for trace, _ in fresh:
                    trace.steps.append(Step(parent.name, "", False, ends=way.why))
            else:
                self._by(way, parent, fresh)

    def _by(self, way: Link, parent: LakeTable, fresh: list[tuple[Trace, Row]]) -> None:
        fresh = [one for one in fresh if all(one[1][n] in values for n, values in way.only)]
        if not fresh:
            return
        steps = [Step(parent.name, way.how, way.is_exact) for _ in fresh]
        for (trace, _), step in zip(fresh, steps, strict=True):
            trace.steps.append(step)
        try:
            rows = self._linked(way, parent, [row for _, row in fresh])
        except NoTable:
            rows = []
        traces = self.follow(parent, rows)
        for row, trace in zip(rows, traces, strict=True):
            step = steps[row["_of"]]
            step.rows = row["_rows"]
            step.traces.append(trace)
        for step in steps:
            if not step.rows:
                step.ends = "no such row is there: it needs none, or they have changed since"

    def _linked(self, way: Link, parent: LakeTable, rows: list[Row]) -> list[Row]:
        """The parent's rows of each row: the first of them, with how many there are."""
        from pyspark.sql import functions as F
        from pyspark.sql.window import Window

        wanted = [(n, *(_value(row, p.here) for p in way.pairs)) for n, row in enumerate(rows)]
        names = [f"_w{i} {pair.kind}" for i, pair in enumerate(way.pairs)]
        asked = self.lake.spark.createDataFrame(wanted, ", ".join(["_of int", *names]))
        theirs = self.read(parent)
        if way.prune:
            times = {_value(row, way.prune[0]) for row in rows}
            theirs = theirs.where(_one_of(way.prune[1], times))
        same = [f"cast({p.there} as {p.kind}) <=> _w{i}" for i, p in enumerate(way.pairs)]
        joined = theirs.join(F.broadcast(asked), F.expr(" and ".join(same)), how="inner")
        each = Window.partitionBy("_of")
        placed = joined.withColumns({
            "_rows": F.count(F.lit(1)).over(each),
            "_place": F.row_number().over(each.orderBy(*parent.contract.key())),
        })  # fmt: skip
        found = placed.where(f"_place <= {self.followed}").orderBy("_of", "_place")
        shown: list[Row] = fetched(found).to_pylist()
        return shown

    def read(self, table: LakeTable) -> "DataFrame":
        """Without what only weighs: bytes."""
        rows = self.lake.at(self._head(table.name))
        return rows.drop(*[n for n, c in table.contract.columns.items() if c.type == "binary"])

    def _head(self, name: str) -> Head:
        if name not in self._heads:
            self._heads[name] = self.lake.catalog.head(name)
        return self._heads[name]

    def _told(self, table: LakeTable, row: Row) -> Trace:
        pii = table.contract.pii()
        key = {k: quality.MASK if k in pii and row[k] else row[k] for k in table.contract.key()}
        kafka = None
        if table.topic:
            kafka = {"topic": table.topic, "partition": row["kafka_partition"],
                     "offset": row["kafka_offset"], "generation": row["topic_generation"],
                     "arrived_at": row["arrived_at"]}  # fmt: skip
        return Trace(table.name, key, self._commit(table.name, row), kafka)

    def _commit(self, name: str, row: Row) -> Commit:
        if name not in self._commits:
            self._commits[name] = dict(self._batches(name))
        attempt, number = row.get(CHECKPOINT), row[COMMIT]
        known = self._commits[name].get(number, Commit(number))
        return Commit(number, known.published_at, known.run, known.code_version, attempt)

    def _batches(self, name: str) -> Iterable[tuple[int, Commit]]:
        table = self.lake.catalog.load(name)
        for stamp, snapshot in stamped(table, table.snapshot_by_id(self._head(name).snapshot_id)):
            at = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, timezone.utc)
            yield stamp.commit, Commit(stamp.commit, at.isoformat(), stamp.run, stamp.code)


def _value(row: Row, path: str) -> Any:
    """Of a column, or of a member of it: `_record.kafka_offset`."""
    value: Any = row
    for name in path.split("."):
        value = None if value is None else value[name]
    return value


def _one_of(column: str, times: set[Any]) -> str:
    """SQL with literals, by which files are skipped; NULL is a time, too."""
    spelled = [f"timestamp'{at.isoformat()}'" for at in sorted(t for t in times if t is not None)]
    listed = [f"{column} in ({', '.join(spelled)})"] if spelled else []
    return " or ".join([*listed, *([f"{column} is null"] if None in times else [])])
