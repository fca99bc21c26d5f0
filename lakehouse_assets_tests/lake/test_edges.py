"""Beginnings and ends: a table's first commit, the first and the last year."""

from datetime import datetime, timezone
from typing import Any

import pytest

from lakehouse_assets.lake import catalog as catalogs
from lakehouse_assets.lake import publish as publishing
from lakehouse_assets.lake import schema
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.scope import next_stamp
from lakehouse_assets_tests.lake.tables import DAILY, EVENTS, LATEST, Events, add, event
from lakehouse_assets_tests.support import stored
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send


def test_a_table_and_its_first_commit_are_made_in_one_step(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(catalogs.Remembering, "commit_table", killed)
        lake.catalog.ensure(Events)
    assert not lake.catalog.exists("bare.events")
    add(lake, EVENTS, event(1, "a"))
    assert lake.catalog.head("bare.events").stamp.commit == 1


def test_a_slow_first_run_does_not_start_a_table_over(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run makes the table, and fills it, before this one's creation is committed."""
    commit, raced = catalogs.Remembering.commit_table, []

    def late(catalog: Any, *args: Any, **options: Any) -> Any:
        if not raced:
            raced.append(True)
            add(lake, EVENTS, event(1, "a"))
        return commit(catalog, *args, **options)

    monkeypatch.setattr(catalogs.Remembering, "commit_table", late)
    Catalog().ensure(Events)
    assert lake.catalog.head("bare.events").stamp.commit == 1


def test_somebody_elses_table_in_the_catalog_is_left_alone(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    lake.catalog.iceberg.create_namespace_if_not_exists("other")
    lake.catalog.iceberg.create_table("other.notes", schema.iceberg_schema(Events))
    assert list(lake.catalog.heads()) == ["bare.events"]


def test_the_last_day_of_time_is_a_day_like_any(lake: Lake) -> None:
    forever = datetime.max.replace(tzinfo=timezone.utc)
    for seq in (1, 2):
        add(lake, EVENTS, event(seq, "a", seq, at=forever), stated=False)
        for table in (LATEST, DAILY):
            advance(lake, table)
    assert [r["version"] for r in stored("bare.latest")] == [2]
    assert [r["total"] for r in stored("bare.daily")] == [4]


@pytest.mark.parametrize("instant", ["+12345-01-01 00:00:00", "-0044-03-15 00:00:00"])
def test_a_year_that_python_cannot_hold_does_not_stop_a_table(lake: Lake, instant: str) -> None:
    for version in (1, 2):
        add(lake, EVENTS, event(version, "good", version), stated=False)
        head = lake.catalog.head("bare.events")
        odd = lake.table("bare.events").where("id = 'good'").limit(1)
        odd = odd.selectExpr(
            f"{version + 10} as seq", "'odd' as id", f"timestamp'{instant}' as at",
            f"{version} as version", "amount", "arrived_at",
        )  # fmt: skip
        stamp = next_stamp(head.stamp, at="", ranges=None)
        publishing.publish(lake, Events, head, publishing.Change(odd, "append", stamp))
        advance(lake, LATEST)
    found = lake.table("bare.latest").select("id", "version").orderBy("id").collect()
    assert [tuple(r) for r in found] == [("good", 2), ("odd", 2)]


@pytest.mark.parametrize("year", ["+12345", "-0044"])
def test_raw_takes_no_year_that_its_readers_cannot_hold(lake: Lake, year: str) -> None:
    """pyiceberg, DuckDB and Python end at 1 and 9999: a table with such a row cannot be read."""
    topic = make_topic(f"found_year_{len(year)}_{year[0] == '-'}")
    send(topic, b'{"id":"a","made_at":"%s-03-15T00:00:00Z"}' % year.encode())
    ingest(lake, notes(topic))
    assert [r["_error"] for r in stored("raw.notes", "_error", "made_at")] == ["wrong type"]
