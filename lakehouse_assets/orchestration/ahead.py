"""A run's tables, made by two threads, each as soon as its parents are.

Dagster takes the steps of a run one after the other. But most of a small batch is planning, which
one core does: so while one table is made, so is another that does not need it. A step waits for its
own table and tells of it, in Dagster's order.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Condition, Thread
from time import monotonic

from lakehouse_assets.lake.advance import Outcome
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.names import METADATA

WORKERS = 2
ENDING_S = 40  # within Dagster's patience (run_monitoring.cancel_timeout_seconds)
AGAIN_S = 0.5

Make = Callable[[Lake, LakeTable], Outcome]


class Ahead:
    """What is being made for one run. Tables about the lake wait for their step, since that holds
    their pool.
    """

    def __init__(self, tables: Iterable[LakeTable], make: Make, run: str) -> None:
        waiting = {table.name: table for table in tables}
        height = _heights(waiting)
        self._waiting = dict(sorted(waiting.items(), key=lambda item: -height[item[0]]))
        self._made: dict[str, Future[Outcome]] = {name: Future() for name in waiting}
        self._make, self._asked, self._changed = make, set[str](), Condition()
        self._lakes = [Lake(run=run) for _ in range(min(WORKERS, len(waiting)))]
        self._threads = [Thread(target=self._work, args=(k,), daemon=True) for k in self._lakes]
        for thread in self._threads:
            thread.start()

    def outcome(self, table: LakeTable) -> Outcome:
        """What became of a table of this run, once it is made; raises what making it raised."""
        with self._changed:
            self._asked.add(table.name)
            self._changed.notify_all()
        return self._made[table.name].result()

    def close(self) -> None:
        """Nothing more is begun; what is being made for nobody is interrupted, query by query."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()
        end = monotonic() + ENDING_S
        while monotonic() < end and any(thread.is_alive() for thread in self._threads):
            for lake, thread in zip(self._lakes, self._threads, strict=True):
                if thread.is_alive():
                    lake.interrupt()
                thread.join(AGAIN_S)

    def _work(self, lake: Lake) -> None:
        try:
            while (table := self._next()) is not None:
                made = self._made[table.name]
                lake.seconds.clear()
                try:
                    outcome = self._make(lake, table)
                except BaseException as error:  # the step raises it
                    made.set_exception(error)
                else:
                    outcome.seconds = dict(lake.seconds)
                    made.set_result(outcome)
                with self._changed:
                    self._changed.notify_all()
        finally:
            lake.close()

    def _next(self) -> LakeTable | None:
        """Waits for a table that can be made; None: all are taken."""
        with self._changed:
            while self._waiting:
                for table in [*self._waiting.values()]:
                    if self._is_ready(table):
                        return self._waiting.pop(table.name)
                if self._waiting:
                    self._changed.wait()
        return None

    def _is_ready(self, table: LakeTable) -> bool:
        """Not before its parents; what is made of a table that failed fails like it."""
        parents = [self._made[p.name] for p in table.upstream if p.name in self._made]
        if not all(p.done() for p in parents):
            return False
        if failed := [error for p in parents if (error := p.exception())]:
            del self._waiting[table.name]
            self._made[table.name].set_exception(failed[0])
            return False
        return table.layer != METADATA or table.name in self._asked


def _heights(tables: dict[str, LakeTable]) -> dict[str, int]:
    """How many tables, one made of the other, still follow each: the longest way is gone first."""
    height = dict.fromkeys(tables, 0)
    for name in reversed(tables):  # children before parents
        for parent in tables[name].upstream:
            if parent.name in height:
                height[parent.name] = max(height[parent.name], height[name] + 1)
    return height
