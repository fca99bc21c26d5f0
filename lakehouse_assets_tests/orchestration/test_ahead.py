"""The order in which two threads make a run's tables; what is made does not matter here."""

import time
from collections.abc import Callable
from threading import Barrier, Event, Lock

import pytest

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import Outcome
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.ahead import Ahead

LONG_S = 30


def table(name: str, *parents: LakeTable) -> LakeTable:
    contract = type("Any", (Table,), {}, name=name)
    return LakeTable(contract, "bare", parents={p.name.split(".")[1]: p for p in parents})


A = table("raw.a")
B = table("raw.b")
C = table("semantic.c", A)
D = table("marts.d", C)
E = table("metadata.e", A)
F = table("raw.f")


class Log:
    """Which tables were begun and ended, in order."""

    def __init__(self, act: Callable[[LakeTable], None] = lambda table: None) -> None:
        self.told: list[str] = []
        self._act, self._lock = act, Lock()

    def make(self, lake: Lake, table: LakeTable) -> Outcome:
        self._tell(f"begin {table.name}")
        lake.seconds["work"] = 1.0
        self._act(table)
        self._tell(f"end {table.name}")
        return Outcome(table)

    def _tell(self, what: str) -> None:
        with self._lock:
            self.told.append(what)

    def place(self, what: str) -> int:
        return self.told.index(what)


def test_a_table_is_made_once_and_after_its_parents() -> None:
    log = Log()
    ahead = Ahead([A, B, C, D], log.make, "run")
    for each in (A, B, C, D):
        outcome = ahead.outcome(each)
        assert (outcome.table, outcome.seconds) == (each, {"work": 1.0})
    assert len(log.told) == 2 * 4
    assert log.place("end raw.a") < log.place("begin semantic.c")
    assert log.place("end semantic.c") < log.place("begin marts.d")
    ahead.close()


def test_tables_that_do_not_need_each_other_are_made_at_once() -> None:
    both = Barrier(2, timeout=LONG_S)
    ahead = Ahead([A, B], Log(lambda _: both.wait() and None).make, "run")
    assert ahead.outcome(A).table is A and ahead.outcome(B).table is B
    ahead.close()


def test_a_failure_is_raised_by_its_own_step_and_by_those_that_are_made_of_it() -> None:
    def fail(table: LakeTable) -> None:
        if table is A:
            raise OSError("no disk")

    ahead = Ahead([A, B, C, D], Log(fail).make, "run")
    for each in (A, C, D):
        with pytest.raises(OSError, match="no disk"):
            ahead.outcome(each)
    assert ahead.outcome(B).table is B
    ahead.close()


def test_a_table_about_the_lake_waits_for_its_step() -> None:
    log = Log()
    ahead = Ahead([A, E], log.make, "run")
    ahead.outcome(A)
    assert not any("metadata.e" in told for told in log.told)
    assert ahead.outcome(E).table is E
    ahead.close()


def test_closing_begins_nothing_more_and_waits_for_what_was_begun() -> None:
    begun, go = Event(), Event()

    def wait(table: LakeTable) -> None:
        begun.set()
        go.wait(LONG_S)

    log = Log(wait)
    ahead = Ahead([A, C], log.make, "run")
    begun.wait(LONG_S)
    go.set()
    ahead.close()
    assert log.told[:2] == ["begin raw.a", "end raw.a"]
    assert log.told.count("begin semantic.c") == log.told.count("end semantic.c")


def test_the_longest_way_is_gone_first() -> None:
    one = Lock()

    def alone(table: LakeTable) -> None:
        with one:
            pass

    log = Log(alone)
    with one:  # both threads are kept at their first table
        ahead = Ahead([B, F, A, C, D], log.make, "run")
        while len(log.told) < 2:
            time.sleep(0.01)
        assert "begin raw.a" in log.told
    ahead.outcome(D)
    ahead.close()


def test_every_run_of_all_tables_comes_to_an_end() -> None:
    every = tables()
    ahead = Ahead(every.values(), Log().make, "run")
    assert {ahead.outcome(t).table.name for t in every.values()} == {*every}
    ahead.close()
