"""Housekeeping changes files and snapshots, never rows; each job is done when it is due."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.upkeep import maintenance
from lakehouse_assets.upkeep.maintenance import maintain
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, add, event, own_lake
from lakehouse_assets_tests.support import stored

BATCHES = 5


@pytest.fixture(scope="module")
def worn(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A table of several small files and deletes, as many commits leave it."""
    with own_lake(tmp_path_factory.mktemp("worn")) as lake:
        for n in range(1, BATCHES + 1):
            add(lake, EVENTS, event(n, "a", n), event(n + 100, f"b{n}"))
            advance(lake, LATEST)
        yield lake


def content() -> list[dict[str, Any]]:
    return stored("bare.latest", "id", "version", "amount", COMMIT)


def test_nothing_is_done_before_it_is_due(worn: Lake) -> None:
    head = worn.catalog.head("bare.latest")
    assert maintain(worn, head) == ""
    after = worn.catalog.head("bare.latest")
    assert (after.snapshot_id, after.snapshots) == (head.snapshot_id, head.snapshots)
    assert "orphans_at" in after.care  # from now on counted


def test_compaction_makes_files_few_and_changes_no_row_no_commit_and_no_news(
    worn: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "NEW_FILES", 4)
    monkeypatch.setattr(maintenance, "SMALL_FILES", 2)
    before, rows = worn.catalog.head("bare.latest"), content()
    assert maintain(worn, before) == "compacted"
    after = worn.catalog.head("bare.latest")
    assert after.files < before.files and after.care["files"] == after.files
    assert after.stamp == before.stamp and after.rows == before.rows
    assert content() == rows
    assert advance(worn, LATEST).published == []
    assert maintain(worn, after) == ""  # the same files are not looked at again


def test_expired_snapshots_leave_rows_progress_and_further_batches_alone(
    worn: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_SNAPSHOTS", 5)
    monkeypatch.setattr(maintenance, "KEPT_SNAPSHOTS", 4)  # compaction made the newest
    rows = content()
    assert maintain(worn, worn.catalog.head("bare.latest")) == "expired snapshots"
    head = worn.catalog.head("bare.latest")
    assert head.snapshots == 4 and content() == rows
    add(worn, EVENTS, event(50, "a", 50))
    advance(worn, LATEST)
    assert [r["version"] for r in content() if r["id"] == "a"] == [50]


def test_files_that_nobody_refers_to_are_removed_once_they_are_old(
    worn: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(worn.catalog.load("bare.latest").location()) / "data"
    assert str(folder).startswith(settings.warehouse())
    orphan = folder / "left-by-a-killed-task.parquet"
    orphan.write_bytes(b"PAR1")
    rows, day_ago = content(), datetime.now(timezone.utc) - timedelta(days=1, minutes=1)
    worn.catalog.note_care("bare.latest", {"orphans_at": day_ago.isoformat()})
    assert maintain(worn, worn.catalog.head("bare.latest")) == "removed orphans"
    assert orphan.exists()  # too young: a task may still be writing it
    old = (datetime.now(timezone.utc) - timedelta(days=4)).timestamp()
    os.utime(orphan, (old, old))
    worn.catalog.note_care("bare.latest", {"orphans_at": day_ago.isoformat()})
    assert maintain(worn, worn.catalog.head("bare.latest")) == "removed orphans"
    assert not orphan.exists() and content() == rows
    assert maintain(worn, worn.catalog.head("bare.latest")) == ""
