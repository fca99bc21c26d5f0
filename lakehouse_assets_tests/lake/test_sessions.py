"""Sessions on the shared server: one that ends, or is forgotten, disturbs no other."""

import gc
import sys
import weakref
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest
from pyspark.sql import functions as F
from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import open_session

PATIENCE_S = 20


def test_a_session_that_is_collected_as_garbage_waits_for_no_other(empty_lake: Path) -> None:
    kept = open_session()  # the first of all, which PySpark itself remembers
    forgotten: list[Any] = [open_session()]
    gone = weakref.ref(forgotten[0])

    def forget() -> None:
        forgotten.clear()
        gc.collect()

    gc.collect()  # others' sessions, which may be PySpark's own
    with ExecutePlanResponseReattachableIterator._lock:  # as who begins to release an answer
        thread = Thread(target=forget, daemon=True)
        thread.start()
        thread.join(PATIENCE_S)
        assert not thread.is_alive() and gone() is None
    kept.stop()


def test_one_that_ends_leaves_the_others_what_they_share(lake: Lake) -> None:
    spark = cast(Any, lake.spark)
    assert spark.range(3).count() == 3
    threads = ExecutePlanResponseReattachableIterator._release_thread_pool_instance
    other: Any = open_session()
    other.stop()
    assert other.is_stopped and not spark.is_stopped
    assert ExecutePlanResponseReattachableIterator._release_thread_pool_instance is threads
    assert spark.range(4).count() == 4


class Asked:
    """Of an importer: which modules it was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, *_: object) -> None:
        self.names.append(name)


def test_naming_a_column_looks_for_no_module(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lake.spark.range(1).select(F.col("id")).count() == 1  # whatever is imported once
    asked = Asked()
    monkeypatch.setattr(sys, "meta_path", [asked, *sys.meta_path])
    F.col("id").isNull()
    assert asked.names == []
