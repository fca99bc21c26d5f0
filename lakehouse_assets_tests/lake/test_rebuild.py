"""Tables computed anew: a rebuild, a parent that was dropped, and what children make of it."""

import time

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, add, day, event
from lakehouse_assets_tests.support import stored


@pytest.fixture
def fed(lake: Lake) -> Lake:
    """A parent with two ids on the first day and one on the second."""
    add(lake, EVENTS, event(1, "a", 2, 20), event(2, "b", 1, 40), event(3, "c", at=day(2)))
    return lake


def test_a_rebuild_changes_no_row_raises_the_epoch_and_children_compute_everything(
    fed: Lake,
) -> None:
    copy = table_asset(type("Copy", (LATEST.contract,), {}, name="bare.copy"), copied, rows=LATEST)
    for table in (LATEST, copy):
        advance(fed, table)
    add(fed, EVENTS, event(4, "a", 3, 6))
    for table in (LATEST, copy):
        advance(fed, table)
    before, born = stored("bare.latest"), fed.catalog.head("bare.latest").stamp.epoch
    born_child = fed.catalog.head("bare.copy").stamp.epoch
    (published,) = rebuild(fed, LATEST).published
    assert stored("bare.latest") == before
    stamp = published.stamp
    assert (stamp.commit, stamp.epoch, stamp.ranges) == (3, born + 1, None)
    assert fed.catalog.head("bare.latest").rows == 3
    (child,) = advance(fed, copy).published
    assert child.stamp.progress == {"bare.latest": [3, born + 1]}
    assert (child.stamp.epoch, child.stored) == (born_child + 1, 3)
    assert stored("bare.copy") == before
    assert advance(fed, copy).published == []


def test_children_of_a_table_that_was_dropped_and_made_again_compute_everything(
    fed: Lake,
) -> None:
    copy = table_asset(type("Copy", (LATEST.contract,), {}, name="bare.copy"), copied, rows=LATEST)
    for table in (LATEST, copy):
        advance(fed, table)
    old = fed.catalog.head("bare.latest").stamp
    fed.catalog.iceberg.purge_table("bare.latest")
    time.sleep(1.1)  # epochs are seconds
    advance(fed, LATEST)
    new = fed.catalog.head("bare.latest").stamp
    assert (new.commit, new.epoch > old.epoch) == (old.commit, True)
    assert len(advance(fed, copy).published) == 1
    assert stored("bare.copy") == stored("bare.latest")


def copied(rows: DataFrame) -> DataFrame:
    return rows.drop(COMMIT)


def test_a_rebuild_reads_what_came_since(fed: Lake) -> None:
    advance(fed, LATEST)
    add(fed, EVENTS, event(4, "new"))
    rebuild(fed, LATEST)
    assert sorted(r["id"] for r in stored("bare.latest")) == ["a", "b", "c", "new"]
    assert advance(fed, LATEST).published == []
