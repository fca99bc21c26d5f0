"""Which files readers may trust, whoever died or moved rows meanwhile."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.catalog import MainMoved
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage.log import COMPACTION, CommitLog
from lakehouse_assets.lineage.trust import Trusted, trusted
from lakehouse_assets.metadata.commit_log import lines
from lakehouse_assets.upkeep import maintenance
from lakehouse_assets.upkeep.maintenance import CLEANED, COMPACTED, maintain
from lakehouse_assets_tests.lake.tables import own_lake
from lakehouse_assets_tests.lineage.logged import Logged, put
from lakehouse_assets_tests.support import stored

NAME = Logged.name
LOG = CommitLog(NAME)


@pytest.fixture(scope="module")
def lake(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The tests of this module go on from each other's attempts."""
    with own_lake(tmp_path_factory.mktemp("trust")) as lake:
        yield lake


def killed(point: str, *numbers: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets_tests.lineage.logged", *map(str, numbers)],
        env=dict(os.environ, LAKEHOUSE_KILL_AT=point), cwd=settings.ROOT, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr


def rows_in(found: list[Trusted], checkpoint: int) -> list[int]:
    tables = [pq.read_table(f.s3_key, partitioning=None) for f in found]
    rows = [row for table in tables for row in table.to_pylist()]
    return sorted(row["seq"] for row in rows if row["checkpoint_id"] == checkpoint)


def rewritten(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(maintenance, "NEW_FILES", 0)
    monkeypatch.setattr(maintenance, "SMALL_FILES", 2)
    return maintain(lake, lake.catalog.head(NAME))


def test_a_published_attempt_is_trusted_and_its_number_stands_in_its_rows(lake: Lake) -> None:
    put(lake, 1, 2)
    put(lake, 3)
    assert [r["checkpoint_id"] for r in stored(NAME)] == [1, 1, 2]
    assert rows_in(trusted(lake.catalog, NAME, 1), 1) == [1, 2]
    assert {e.s3_key for e in LOG.entries()} == {f.s3_key for f in trusted(lake.catalog, NAME)}


@pytest.mark.parametrize("point", ["branch", "data files", "judge", "publish"])
def test_an_attempt_that_died_is_a_gap_and_never_trusted(lake: Lake, point: str) -> None:
    lost = LOG.last() + 1
    killed(point, 100)
    logged = [e for e in LOG.entries() if e.attempt == lost]
    assert bool(logged) == (point in ("judge", "publish")), "durable before it is published"
    assert all(Path(e.s3_key).exists() for e in logged)
    assert trusted(lake.catalog, NAME, lost) == []
    put(lake, 10 + lost)
    assert max(r["checkpoint_id"] for r in stored(NAME)) == lost + 1


def test_who_dies_after_it_was_published_is_trusted(lake: Lake) -> None:
    killed("published", 50)
    (row,) = [r for r in stored(NAME) if r["seq"] == 50]
    assert rows_in(trusted(lake.catalog, NAME, row["checkpoint_id"]), row["checkpoint_id"]) == [50]


def test_of_two_attempts_at_one_batch_only_the_published_one_is_trusted(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, given = lake.catalog.publish, stored(NAME)

    def late(*told: object) -> int:
        monkeypatch.setattr(lake.catalog, "publish", publish)
        put(lake, 60)
        return publish(*told)  # type: ignore[arg-type]

    monkeypatch.setattr(lake.catalog, "publish", late)
    with pytest.raises(MainMoved):
        put(lake, 61)
    last = LOG.last()
    assert rows_in(trusted(lake.catalog, NAME, last), last) == [60]
    assert trusted(lake.catalog, NAME, last - 1) == [] and len(stored(NAME)) == len(given) + 1


def test_trust_survives_a_compaction(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven dies before publish, eight publishes a, nine turns a into b."""
    killed("publish", 200)
    seven = LOG.last()
    put(lake, 70, 71)
    eight = seven + 1
    a = trusted(lake.catalog, NAME, eight)
    rows = stored(NAME)
    killed_rewriting(lake, monkeypatch)
    assert rows_in(a, eight) == [70, 71] and trusted(lake.catalog, NAME, eight) == a
    assert rewritten(lake, monkeypatch) == COMPACTED
    nine = LOG.last()
    assert [one.kind for one in LOG.attempts()][-1] == COMPACTION and nine > eight
    (b,) = trusted(lake.catalog, NAME, eight)
    assert b.s3_key not in {f.s3_key for f in a}
    assert b.logged_by == nine and rows_in([b], eight) == [70, 71]
    assert trusted(lake.catalog, NAME, seven) == [] == trusted(lake.catalog, NAME, nine)
    assert stored(NAME) == rows
    every = {f.checkpoint_id: rows_in(trusted(lake.catalog, NAME, f.checkpoint_id), f.checkpoint_id)
             for f in trusted(lake.catalog, NAME)}  # fmt: skip
    assert sorted(n for rows in every.values() for n in rows) == sorted(r["seq"] for r in rows)
    assert {r["checkpoint_id"] for r in rows} == every.keys()
    put(lake, 72)
    assert rewritten(lake, monkeypatch) == COMPACTED, "b, too, can be moved"
    assert rows_in(trusted(lake.catalog, NAME, eight), eight) == [70, 71]


def killed_rewriting(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is written, and another run publishes first."""
    publish = lake.catalog.publish

    def late(*told: object) -> int:
        raise MainMoved(NAME)

    monkeypatch.setattr(lake.catalog, "publish", late)
    rewritten(lake, monkeypatch)
    monkeypatch.setattr(lake.catalog, "publish", publish)
    assert not [r for r in lake.catalog.load(NAME).metadata.refs if r != "main"]


def test_the_table_of_the_log_says_the_same(lake: Lake) -> None:
    told = lines(lake.catalog.heads(), {})
    assert {(r["attempt"], r["subtask"], r["checkpoint_id"], r["s3_key"]) for r in told} == {
        (e.attempt, e.subtask, e.checkpoint_id, e.s3_key) for e in LOG.entries()
    }
    seen = {(r["checkpoint_id"], r["s3_key"]) for r in told if r["is_trusted"]}
    assert seen == {(f.checkpoint_id, f.s3_key) for f in trusted(lake.catalog, NAME)}
    assert {True, False} == {r["is_trusted"] for r in told}


def test_cleaning_up_removes_what_was_never_published_and_nothing_else(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, seen = stored(NAME), trusted(lake.catalog, NAME)
    killed("publish", 300)
    lost = [e for e in LOG.entries() if e.attempt == LOG.last()]
    assert maintain(lake, lake.catalog.head(NAME)) == CLEANED
    assert all(Path(e.s3_key).exists() for e in lost), "its branch is not dropped yet"
    lake.catalog.reap(NAME)
    put(lake, 80)
    lake.catalog.note_care(NAME, {})
    assert maintain(lake, lake.catalog.head(NAME)) == CLEANED
    assert lost and not any(Path(e.s3_key).exists() for e in lost)
    assert lost[0].attempt not in LOG.numbers()
    assert maintain(lake, lake.catalog.head(NAME)) == ""
    assert [r for r in stored(NAME) if r["seq"] != 80] == rows
    assert {f.s3_key for f in seen} <= {f.s3_key for f in trusted(lake.catalog, NAME)}
    kept = Path(lake.catalog.load(NAME).location()) / "data"
    there = {str(p) for p in kept.rglob("*.parquet")}
    assert {f.s3_key for f in seen} <= there
