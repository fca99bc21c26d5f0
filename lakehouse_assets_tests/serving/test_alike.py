"""The comparison of PostgreSQL's `weather` with the lake's table: it finds what differs."""

from datetime import timedelta
from typing import Any

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.serving import alike
from lakehouse_assets.serving.alike import look
from lakehouse_assets.serving.weather import bring
from lakehouse_assets_tests.serving.sky import Sky

A_DAY = 24 * 60


def wrong(sky: Sky) -> dict[str, Any]:
    found = look(sky.lake.catalog)
    assert found.is_alike is not bool(found.wrong)
    return {kind: told["rows"] for kind, told in found.wrong.items()}


def test_what_differs_is_found_on_whichever_day(sky: Sky) -> None:
    sky.read((0, 1.0), (5, 2.0), (A_DAY, 3.0), (3 * A_DAY, 4.0))
    bring(sky.lake.catalog)
    assert wrong(sky) == {} and look(sky.lake.catalog).rows == 4
    sky.do("delete from weather where avg_temperature = 3")
    sky.do("update weather set avg_temperature = 2.0000000000000004 where avg_temperature = 2")
    sky.do("update weather set window_end = null where avg_temperature = 4")
    sky.do("insert into weather values ('Boston', 1, '2030-01-01', '2030-01-01', 1)")
    assert wrong(sky) == {"missing": 1, "other": 2, "in excess": 1}
    told = look(sky.lake.catalog).wrong
    assert told["missing"]["for example"] == ["2026-01-09 12:00 Boston"]
    bring(sky.lake.catalog, anew=True)
    assert wrong(sky) == {}


def test_it_is_compared_with_the_batch_that_was_consumed(
    sky: Sky, monkeypatch: pytest.MonkeyPatch
) -> None:
    sky.read((0, 1.0))
    bring(sky.lake.catalog)
    sky.read((0, 3.0), (1, 5.0), second=9)
    found = look(sky.lake.catalog)
    assert (found.wrong, found.behind, found.rows, found.is_alike) == ({}, 1, 1, True)
    sky.do("update weather set record_count = 9")
    assert wrong(sky) == {"other": 1}
    monkeypatch.setattr(alike, "ON_ITS_WAY", timedelta(0))
    late = look(sky.lake.catalog)
    assert not late.is_alike and late.late.startswith("1 batches are missing")


def test_nothing_read_is_alike_and_a_table_that_is_not_there_is_not(
    lake: Lake, sky: Sky
) -> None:
    assert look(lake.catalog).is_alike
    sky.read((0, 1.0))
    assert look(lake.catalog).behind == 2, "its making, and the reading"
