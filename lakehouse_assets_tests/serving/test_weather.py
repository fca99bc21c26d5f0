"""PostgreSQL's `weather` says what the lake's table says, whatever happens to who brings it."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lakehouse_assets import settings
from lakehouse_assets.analytics.weather_by_minute import weather_by_minute
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.serving.weather import Consumed, bring, consumed
from lakehouse_assets.sources.weather.around import ODD
from lakehouse_assets_tests.serving.sky import Sky


def test_what_is_new_is_brought_and_only_that(sky: Sky) -> None:
    sky.read(*[(n, 70.0 + n) for n in range(0, 180, 30)])
    first = bring(sky.lake.catalog)
    assert (first.read, first.written, first.whole) == (6, 6, True)
    before = sky.touched()
    sky.read((30, 50.0), (181, 1.0), second=9)
    second = bring(sky.lake.catalog)
    # The minute that was open until now is told anew, but it says the same.
    assert (second.read, second.written, second.whole) == (3, 2, False)
    changed = {n for n, at in sky.touched().items() if at != before.get(n)}
    assert changed == {30, 181} and sky.served() == sky.minutes() and len(sky.served()) == 7
    assert bring(sky.lake.catalog).read == 0, "nothing is new"
    head = sky.lake.catalog.head(weather_by_minute.name).stamp
    assert consumed() == Consumed(head.epoch, head.commit) == second.consumed


def test_cities_are_stored_as_they_are_written_and_no_digit_is_lost(sky: Sky) -> None:
    cities = (*ODD, "a\tb\\N\nc", "é", "e\u0301")
    sky.read(*[(0, 70 + 1 / (n + 3)) for n in range(len(cities))], cities=cities)
    bring(sky.lake.catalog)
    assert sky.served() == sky.minutes() and len(sky.served()) == len(cities)


def test_a_rebuild_changes_nothing_and_what_differs_is_replaced_by_hand(sky: Sky) -> None:
    sky.read((0, 1.0), (1, 2.0))
    bring(sky.lake.catalog)
    before = sky.touched()
    rebuild(sky.lake, weather_by_minute)
    again = bring(sky.lake.catalog)
    assert (again.read, again.written, again.removed, again.whole) == (2, 0, 0, True)
    assert sky.touched() == before
    sky.do("delete from weather where avg_temperature = 1")
    sky.do("update weather set record_count = 7")
    sky.do("insert into weather values ('Nowhere', 1, now(), now(), 1)")
    assert bring(sky.lake.catalog).written == 0, "by news nobody looks at it"
    mended = bring(sky.lake.catalog, anew=True)
    assert (mended.written, mended.removed) == (2, 1) and sky.served() == sky.minutes()


def test_another_lake_takes_the_place_of_what_was_there(sky: Sky) -> None:
    sky.do("insert into weather values ('Atlantis', 1, '2020-01-01', '2020-01-01', 1)")
    sky.do("update consumed set epoch = 7, batch = 99")
    sky.read((0, 1.0))
    assert bring(sky.lake.catalog).whole and sky.served() == sky.minutes()


@pytest.mark.parametrize("point", ["read", "publish", "published"])
def test_a_killed_one_leaves_what_was_there_or_what_must_be_there(sky: Sky, point: str) -> None:
    sky.read((0, 1.0))
    bring(sky.lake.catalog)
    before = sky.served(), consumed()
    sky.read((0, 3.0), (1, 5.0), second=9)
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets_tests.serving.killed"], cwd=settings.ROOT,
        env=os.environ | {"LAKEHOUSE_KILL_AT": f"{point}@postgres.weather"}, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    found = sky.served(), consumed()
    assert (found == before) is (point != "published")
    bring(sky.lake.catalog)
    assert sky.served() == sky.minutes()


def test_of_two_at_once_the_second_sees_what_the_first_did(sky: Sky) -> None:
    for round_ in range(3):
        sky.read(*[(n, float(round_ + n)) for n in range(20)], second=round_)
        with ThreadPoolExecutor(2) as pool:
            done = [*pool.map(lambda _: bring(Catalog()), range(2))]
        assert sorted(one.read > 0 for one in done) == [False, True]
        assert sky.served() == sky.minutes()


def test_the_schema_is_made_by_the_first_one_and_nothing_read_brings_nothing(
    lake: Lake, unmade: None
) -> None:
    assert bring(lake.catalog).consumed == Consumed()
    assert Sky(lake).served() == []


def test_without_a_database_it_says_how_to_start_one(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://a:secret@127.0.0.1:1/b")
    began = time.monotonic()
    with pytest.raises(ServiceError, match="lakehouse up postgres") as failure:
        bring(lake.catalog)
    assert time.monotonic() - began < 10 and "secret" not in str(failure.value)
