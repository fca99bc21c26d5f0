"""Thirty days of verdicts, read once, day by day."""

from datetime import timedelta
from pathlib import Path

import pytest

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.pages import past
from lakehouse_assets.pages.past import Past, since
from lakehouse_assets_tests.pages import lakes
from lakehouse_assets_tests.pages.lakes import MART, RULE, now
from lakehouse_assets_tests.support import lake_in

PLACE = (MART, RULE)


@pytest.fixture
def catalog(tmp_path: Path) -> "Catalog":  # type: ignore[misc]
    with lake_in(tmp_path / "a lake"):
        yield Catalog()


@pytest.fixture(autouse=True)
def no_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "READ_S", 1e9)


def spelled(found: Past) -> str:
    """By day, oldest first: passes and failures."""
    days, is_whole = found.days(Catalog().heads())
    assert is_whole
    kept = [days[day].get(PLACE) for day in sorted(days)]
    return " ".join(f"{d.passed}/{d.failed}" for d in kept if d)


def test_a_lake_without_a_history_has_none(catalog: Catalog) -> None:
    days, is_whole = Past(catalog).days({})
    assert len(days) == 30 and is_whole and not any(days.values())


def test_verdicts_are_counted_by_day_and_older_ones_left_out(catalog: Catalog) -> None:
    noon = now().replace(hour=12, minute=0) - timedelta(days=1)
    lakes.remember(MART, RULE, "ppfp", noon, timedelta(days=1))
    lakes.remember(MART, RULE, "ff", noon - timedelta(days=40), timedelta(days=1))
    lakes.remember(MART, "another", "ff", noon, timedelta(days=1))
    assert spelled(Past(catalog)) == "1/0 1/0 0/1 1/0"


def test_since_when_it_fails_goes_back_to_the_last_pass_over_days(catalog: Catalog) -> None:
    noon = now().replace(hour=12, minute=0, microsecond=0) - timedelta(days=1)
    lakes.remember(MART, RULE, "fpff", noon, timedelta(hours=9))
    days, _ = Past(catalog).days(catalog.heads())
    assert since(days, PLACE) == noon - timedelta(hours=9)
    lakes.remember(MART, RULE, "p", noon + timedelta(hours=1), timedelta(0))
    days, _ = Past(catalog).days(catalog.heads())
    assert since(days, PLACE) is None


def test_only_what_was_added_is_read_again(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    yesterday = now() - timedelta(days=1)
    lakes.remember(MART, RULE, "pp", yesterday, timedelta(hours=24))
    read: list[str] = []
    scan = Past._scan

    def noted(self: Past, head: object, where: str) -> object:
        read.append(where)
        return scan(self, head, where)  # type: ignore[arg-type]

    monkeypatch.setattr(Past, "_scan", noted)
    monkeypatch.setattr(past, "AT_ONCE", -1)
    found = Past(catalog)
    assert spelled(found) == "1/0 1/0" and len(read) == 30
    read.clear()
    assert spelled(found) == "1/0 1/0" and read == []
    lakes.remember(MART, RULE, "f", yesterday, timedelta(0))
    assert spelled(found) == "1/0 1/1"
    assert len(read) == 1 and read[0].startswith("_commit > 1 and ")


def test_a_long_history_is_read_over_several_looks_newest_day_first(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakes.remember(MART, RULE, "fp", now(), timedelta(days=20))
    monkeypatch.setattr(past, "AT_ONCE", -1)
    monkeypatch.setattr(past, "READ_S", -1)
    found = Past(catalog)
    days, is_whole = found.days(catalog.heads())
    assert not is_whole and not any(PLACE in day for day in days.values())
    monkeypatch.setattr(past, "READ_S", 1e9)
    assert spelled(found) == "0/1 1/0"


def test_what_the_history_has_not_told_yet_is_taken_from_the_heads_and_not_twice(
    catalog: Catalog,
) -> None:
    lakes.publish(MART, {RULE: 3})
    lakes.publish(MART)
    found = Past(catalog)
    assert spelled(found) == spelled(found) == "1/1"
    lakes.remember(MART, RULE, "f", now(), timedelta(0), commit=1)
    assert spelled(found) == "1/1"
    lakes.remember(MART, RULE, "p", now(), timedelta(0), commit=2)
    assert spelled(found) == "1/1"


def test_a_history_made_anew_is_read_anew(catalog: Catalog) -> None:
    lakes.remember(MART, RULE, "f", now(), timedelta(0))
    found = Past(catalog)
    assert spelled(found) == "0/1"
    catalog.iceberg.drop_table(lakes.HISTORY)
    assert spelled(found) == "0/1", "kept while there is none"
    lakes.EPOCH += 1
    lakes.remember(MART, RULE, "p", now(), timedelta(0))
    assert spelled(found) == "1/0"


def test_the_engines_own_history_is_read(lake: Lake) -> None:
    lakes.publish(MART, {RULE: 3})
    lakes.publish(MART)
    advance(lake, tables()[lakes.HISTORY])
    found = Past(lake.catalog)
    assert spelled(found) == "1/1"
    lakes.publish(MART, {RULE: 1})
    assert spelled(found) == "1/2"
    advance(lake, tables()[lakes.HISTORY])
    assert spelled(found) == "1/2"
