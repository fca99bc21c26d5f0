"""Heads, branches and the compare-and-swap, as pyiceberg sees them."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.branch import new_branch, owner_lives
from lakehouse_assets.lake.catalog import Catalog, MainMoved, NoTable
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, Events, add, event
from lakehouse_assets_tests.support import stored


def branch_of_a_dead_process() -> str:
    script = "from lakehouse_assets.lake.branch import new_branch; print(new_branch())"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout.strip()


def test_a_new_table_has_an_empty_commit_zero_and_making_it_again_changes_nothing(
    lake: Lake,
) -> None:
    lake.catalog.ensure(Events)
    head = lake.catalog.head("bare.events")
    lake.catalog.ensure(Events)
    assert (head.stamp.commit, head.stamp.progress, head.rows) == (0, {}, 0)
    assert lake.catalog.head("bare.events") == head


def test_a_table_that_was_never_made_says_so(lake: Lake) -> None:
    with pytest.raises(NoTable, match=r"bare\.events has no data yet: materialize it first"):
        lake.catalog.head("bare.events")


def test_commits_are_numbered_without_gaps_and_each_row_carries_its_own(lake: Lake) -> None:
    for n in range(1, 4):
        add(lake, EVENTS, event(n, f"id{n}"))
    stamps, complete = lake.catalog.commits("bare.events", 0)
    assert ([s.commit for s in stamps], complete) == ([3, 2, 1], True)
    assert [(r["seq"], r[COMMIT]) for r in stored("bare.events", "seq", COMMIT)] == [
        (1, 1), (2, 2), (3, 3),
    ]  # fmt: skip
    tallies = lake.catalog.head("bare.events").tallies
    assert [(t["commit"], t["processed"]) for t in tallies] == [(3, 3), (2, 2), (1, 1)]


def test_main_moves_only_from_the_head_that_the_batch_was_made_from(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    old = lake.catalog.head("bare.events")
    branch = new_branch()
    lake.catalog.create_branch(old, branch)
    add(lake, EVENTS, event(2, "b"))
    with pytest.raises(MainMoved):
        lake.catalog.publish(old, branch, {})
    with pytest.raises(MainMoved):
        lake.catalog.create_branch(old, new_branch())
    assert lake.catalog.head("bare.events").rows == 2


def between_load_and_commit(catalog: Catalog, act: Callable[[], None]) -> None:
    """Somebody else acts after we looked and before our commit arrives."""
    commit, acted = catalog.iceberg.commit_table, []

    def late(*args: Any) -> Any:
        if not acted:
            acted.append(True)
            act()
        return commit(*args)

    catalog.iceberg.commit_table = late  # type: ignore[method-assign]


def test_a_rival_between_the_last_look_and_the_commit_is_not_overwritten(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    ours = Catalog()
    head, branch = ours.head("bare.events"), new_branch()
    ours.create_branch(head, branch)
    lake.spark.sql(f"insert into lake.bare.events.branch_{branch} (seq) values (7)")
    between_load_and_commit(ours, lambda: void(add(lake, EVENTS, event(2, "b"))))
    with pytest.raises(MainMoved):
        ours.publish(head, branch, {})
    assert [r["seq"] for r in stored("bare.events", "seq")] == [1, 2]


def test_metadata_that_moved_beside_main_does_not_stop_a_publish(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    ours = Catalog()
    head, branch = ours.head("bare.events"), new_branch()
    ours.create_branch(head, branch)
    lake.spark.sql(f"insert into lake.bare.events.branch_{branch} (seq) values (7)")
    sql = "alter table lake.bare.events set tblproperties ('x' = 'y')"
    between_load_and_commit(ours, lambda: void(lake.spark.sql(sql)))
    ours.publish(head, branch, {"commit": 2})
    table = lake.catalog.load("bare.events")
    assert [r["seq"] for r in stored("bare.events", "seq")] == [1, 7]
    assert (table.properties["x"], list(table.metadata.refs)) == ("y", ["main"])


def void(_: object) -> None:
    """Make an expression a statement."""


def test_branches_of_dead_processes_are_reaped_and_no_others(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    advance(lake, LATEST)
    head = lake.catalog.head("bare.latest")
    elsewhere = f"run_00000000_{os.getpid()}_1_abcdef01"
    alive, dead = new_branch(), branch_of_a_dead_process()
    for branch in (alive, dead, elsewhere):
        lake.catalog.create_branch(head, branch)
    advance(lake, LATEST)  # nothing new: time to clean up
    assert set(lake.catalog.load("bare.latest").metadata.refs) == {"main", alive, elsewhere}
    assert owner_lives(alive) and owner_lives(elsewhere) and not owner_lives(dead)


def test_a_process_number_that_was_given_again_is_not_the_old_process() -> None:
    host, pid, born, tail = new_branch().removeprefix("run_").split("_")
    assert not owner_lives(f"run_{host}_{pid}_{int(born) - 100}_{tail}")
