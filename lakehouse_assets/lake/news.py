"""What is new in a table's parents since it last read them, everything at one pinned head each."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse_assets.lake import scope
from lakehouse_assets.lake.catalog import NoTable, stamped
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = 500_000  # rows of news whose keys are sent to every task: beyond it sorting is cheaper
SMALL = 50_000  # rows of news whose keys are fetched first


@dataclass(eq=False)
class News:
    lake: Lake
    table: LakeTable
    head: Head  # the table's own, which says what it has read

    @cached_property
    def pins(self) -> dict[str, Head]:
        """The parents' heads by name; a parent that was never made has none."""
        pins = {}
        for parent in self.table.upstream:
            with suppress(NoTable):
                pins[parent.name] = self.lake.catalog.head(parent.name)
        return pins

    @cached_property
    def rebuilt(self) -> bool:
        """A parent was made anew: positions in its old log mean nothing."""
        return any(self._is_rebuilt(pin) for pin in self.pins.values())

    @cached_property
    def fresh(self) -> dict[str, LakeTable]:
        """The parents that have something new, by the names under which they are read."""
        return {
            arg: p
            for arg, p in self.table.parents.items()
            if p.name in self.pins and self.pins[p.name].stamp.commit > self.consumed(p)
        }

    @property
    def is_any(self) -> bool:
        return self.rebuilt or bool(self.fresh)

    @cached_property
    def written(self) -> float:
        """Rows that the parents' new commits wrote; infinite where nobody can tell."""
        fresh = self.fresh.values()
        return sum(self.pins[p.name].news_rows(self.consumed(p)) for p in fresh)

    @property
    def is_few(self) -> bool:
        return self.written <= FEW

    @property
    def is_small(self) -> bool:
        return self.written <= SMALL

    @property
    def is_large(self) -> bool:
        """Whether to read the table and its parents is to go over many rows."""
        return self.head.rows + sum(pin.rows for pin in self.pins.values()) > SMALL

    def _is_rebuilt(self, pin: Head) -> bool:
        _, epoch = self.head.stamp.progress.get(pin.name, (0, pin.stamp.epoch))
        return bool(pin.stamp.epoch != epoch)

    def stamp(self, hour: str = "") -> Stamp:
        """What the table's next batch says of itself: read up to the pins, by the code of now. Of
        what is not read, of which only a rebuild matters, no batch is the newest: -1.
        """
        read = {parent.name for parent in self.table.parents.values()}
        progress = {
            n: [h.stamp.commit if n in read else -1, h.stamp.epoch] for n, h in self.pins.items()
        }
        return scope.next_stamp(
            self.head.stamp, progress=progress, code=self.table.code_version(), run=self.lake.run,
            hour=hour,
        )  # fmt: skip

    def consumed(self, parent: LakeTable) -> int:
        return int(self.head.stamp.progress.get(parent.name, (0, 0))[0])

    def frame(self, parent: LakeTable) -> "DataFrame":
        if parent.name in self.pins:
            return self.lake.at(self.pins[parent.name])
        return self.lake.empty(parent.contract)

    def frames(self) -> "dict[str, DataFrame]":
        return {arg: self.frame(parent) for arg, parent in self.table.parents.items()}

    def here(self, counts: bool) -> "dict[str, DataFrame]":
        """The table's own rows, if its transform wants them, and whether the news come on top."""
        if self.table.contract.layout.scope.kind != "own":
            return {}
        return {"here": self.lake.at(self.head).selectExpr("*", f"{counts} as _counts")}

    def rows(self, parent: LakeTable) -> "DataFrame":
        """A parent's rows that changed since they were last read here."""
        rows = self.frame(parent).where(f"{COMMIT} > {self.consumed(parent)}")
        known = self.spans(parent)
        return rows.where(scope.within(*known)) if known else rows

    def was(self, parent: LakeTable) -> "DataFrame | None":
        """What a parent's rows were that have changed or gone since; None: that has expired."""
        from pyspark.sql import functions as F

        consumed = self.consumed(parent)
        if not consumed:
            return self.lake.empty(parent.contract)
        pin, table = self.pins[parent.name], self.lake.catalog.load(parent.name)
        batches = {stamp.commit: s for stamp, s in stamped(table, table.current_snapshot())}
        if consumed not in batches:
            return None
        snapshot = batches[consumed].snapshot_id
        known = self.spans(parent)
        where = scope.within(*known) if known else "true"
        before = self.lake.at(replace(pin, snapshot_id=snapshot, older_schema=True))
        old = before.where(where).alias("old")
        now = self.frame(parent).where(where).select(*parent.contract.key(), COMMIT).alias("now")
        same = [F.col(f"old.{k}").eqNullSafe(F.col(f"now.{k}")) for k in parent.contract.key()]
        joined = old.join(now, same, how="left")
        return joined.where(f"coalesce(now.{COMMIT} > {consumed}, true)").select("old.*")

    def spans(self, parent: LakeTable) -> tuple[str, list[scope.Span]] | None:
        """The column and the spans in which it changed, if all its commits tell."""
        return scope.touched(self.lake.catalog, parent.name, self.consumed(parent))

    def loses(self, parent: LakeTable) -> bool:
        """Whether the news may have taken rows away, which its rows alone would not show."""
        consumed = self.consumed(parent)
        commits, complete = self.lake.catalog.commits(parent.name, consumed)
        if not complete or any(c.corrects for c in commits):
            return True
        if not parent.removes:
            return False
        # To a winner among versions, a row that fell back is as bad as one that is gone.
        newest = self.table.contract.layout.scope.kind == "newest"
        return newest or self.pins[parent.name].may_have_lost(consumed)
