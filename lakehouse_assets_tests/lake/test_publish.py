"""One batch, whole or not at all: what readers see, who wins, what a kill leaves."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.exceptions import CommitFailedException

from lakehouse_assets import settings
from lakehouse_assets.lake import waypoint
from lakehouse_assets.lake.advance import ATTEMPTS, advance
from lakehouse_assets.lake.catalog import Catalog, MainMoved
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, add, event, own_lake
from lakehouse_assets_tests.support import stored
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send


def ids(name: str = "bare.latest", column: str = "id") -> list[object]:
    return [r[column] for r in stored(name, column)]


@pytest.fixture
def other() -> Iterator[Lake]:
    """A second writer, with a session of its own."""
    lake = Lake(run="other")
    yield lake
    lake.close()


def test_readers_see_nothing_before_the_batch_is_published(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, "a"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(2, "b"))
    publish, seen = Catalog.publish, []

    def looking(self: Catalog, *args: Any) -> int:
        seen.append((ids(), [r["id"] for r in lake.table("bare.latest").collect()]))
        return publish(self, *args)

    monkeypatch.setattr(Catalog, "publish", looking)
    advance(lake, LATEST)
    assert seen == [(["a"], ["a"])]
    assert ids() == ["a", "b"]


def overtaken(
    monkeypatch: pytest.MonkeyPatch, slow: Lake, fast: Lake, table: LakeTable, step: str
) -> list[str]:
    """Before `slow` takes that step for the first time, `fast` does the whole batch."""
    method, happened = getattr(Catalog, step), []

    def late(self: Catalog, *args: Any) -> Any:
        if self is slow.catalog and not happened:
            happened.append(step)
            assert (ingest if table.topic else advance)(fast, table).published
        try:
            return method(self, *args)
        except MainMoved:
            happened.append("moved")
            raise

    monkeypatch.setattr(Catalog, step, late)
    return happened


@pytest.mark.parametrize("step", ["create_branch", "publish"])
def test_of_two_writers_of_a_derived_table_one_publishes_and_the_other_looks_again(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    add(lake, EVENTS, event(1, "a"))
    advance(lake, LATEST)
    add(lake, EVENTS, event(2, "a", 2, 4), event(3, "b"))
    happened = overtaken(monkeypatch, lake, other, LATEST, step)
    assert advance(lake, LATEST).published == []
    assert happened[:2] == [step, "moved"]
    assert [(r["id"], r["amount"]) for r in stored("bare.latest")] == [("a", 4), ("b", 2)]
    assert lake.catalog.head("bare.latest").stamp.commit == 2


def test_of_two_readers_of_the_same_records_one_publishes_them(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = make_topic("publish_two_readers")
    send(topic, b'{"id": "a"}', b"bad")
    happened = overtaken(monkeypatch, lake, other, notes(topic), "publish")
    assert ingest(lake, notes(topic)).published == []
    assert happened[:2] == ["publish", "moved"]
    assert ids("raw.notes", "kafka_offset") == [0, 1]


def test_a_writer_that_is_always_overtaken_gives_up_after_a_bound(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def lost(self: Catalog, head: Any, branch: str) -> None:
        tried.append(branch)
        raise MainMoved(head.name)

    add(lake, EVENTS, event(1, "a"))
    monkeypatch.setattr(Catalog, "create_branch", lost)
    with pytest.raises(MainMoved):
        advance(lake, LATEST)
    assert len(tried) == ATTEMPTS


@pytest.mark.parametrize("error", [CommitFailedException("lost"), ConnectionError("lost")])
def test_a_publish_whose_answer_was_lost_counts_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    topic = make_topic(f"publish_lost_{type(error).__name__}")
    send(topic, b'{"id": "a"}', b'{"id": "b"}')
    lake.catalog.ensure(notes(topic).contract)
    commit, lost = lake.catalog.iceberg.commit_table, []

    def answerless(table: Any, requirements: Any, updates: Any) -> Any:
        done = commit(table, requirements, updates)
        if not lost and any("lake.tally" in getattr(u, "updates", {}) for u in updates):
            lost.append(True)
            raise error
        return done

    monkeypatch.setattr(lake.catalog.iceberg, "commit_table", answerless)
    for _ in range(2):
        try:
            ingest(lake, notes(topic))
        except ConnectionError:
            continue
    assert lost and ids("raw.notes", "kafka_offset") == [0, 1]
    assert lake.catalog.head("raw.notes").stamp.commit == 1


# --- killed


@pytest.fixture(scope="module")
def fed(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake that the kills share: each adds one event, and finds what the kills before it left."""
    with own_lake(tmp_path_factory.mktemp("killed")) as lake:
        add(lake, EVENTS, event(0, "a", 0))
        advance(lake, LATEST)
        yield lake


def killed_at(point: str, topic: str = "") -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets_tests.lake.killed", topic],
        env=os.environ | {"LAKEHOUSE_KILL_AT": point}, cwd=settings.ROOT,
        timeout=120, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == -9, f"was not killed at {point}: {ran.stderr[-2000:]}"


@pytest.mark.parametrize("point", waypoint.POINTS)
def test_a_killed_run_harms_no_reader_and_the_next_finishes_its_work(fed: Lake, point: str) -> None:
    seq = waypoint.POINTS.index(point) + 1
    before = stored("bare.latest")
    after = [{**before[0], "version": seq, "amount": 2 * seq}, *before[1:]]
    add(fed, EVENTS, event(seq, "a", seq, 2 * seq, arrived_at=before[0]["arrived_at"]))
    killed_at(f"{point}@bare.latest")
    assert stored("bare.latest") == (after if point == "published" else before)
    advance(fed, LATEST)
    assert stored("bare.latest") == after
    assert list(fed.catalog.load("bare.latest").metadata.refs) == ["main"]
    assert fed.catalog.head("bare.latest").stamp.commit == seq + 1


@pytest.mark.parametrize("point", ["data files", "published"])
def test_a_killed_ingest_neither_loses_nor_doubles_a_record(lake: Lake, point: str) -> None:
    topic = make_topic(f"publish_killed_{point.replace(' ', '_')}")
    send(topic, b'{"id": "a"}', b"bad")
    killed_at(point, topic)
    send(topic, b'{"id": "b"}')
    ingest(lake, notes(topic))
    assert ids("raw.notes", "kafka_offset") == [0, 1, 2]
    assert list(lake.catalog.load("raw.notes").metadata.refs) == ["main"]
