from datetime import datetime, timedelta, timezone

import pytest

from lakehouse_assets.sources.weather.door import checked_temperature
from lakehouse_assets.sources.weather.readings import CITIES, made_up, readings

START = datetime(2026, 1, 8, 14, tzinfo=timezone.utc)


def test_ten_cities_are_read_at_once_every_five_seconds() -> None:
    made = list(readings(7, 30, START))
    assert [r.city for r in made] == [*CITIES] * 3
    due = [timedelta(milliseconds=r.made_ms - made[0].made_ms).total_seconds() for r in made]
    assert due == [0] * 10 + [5] * 10 + [10] * 10


def test_the_same_seed_makes_the_same_readings_and_another_others() -> None:
    assert [*readings(7, 50, START)] == [*readings(7, 50, START)] != [*readings(8, 50, START)]


def test_every_temperature_is_one_that_the_server_takes() -> None:
    said = [r.temperature for r in readings(3, 2_000, START)]
    assert all(checked_temperature({"temperature": text}) == text for text in said)
    assert 0 <= min(map(float, said)) < 5 and 115 < max(map(float, said)) <= 120


def test_cities_are_made_up_on_request_by_the_seed() -> None:
    names = made_up(7, 200)
    assert len({*names}) == 200 and names == made_up(7, 200) != made_up(8, 200)
    read = [r.city for r in readings(7, 500, START, cities=names)]
    assert {*read} <= {*names} and len({*read}) > 100
    with pytest.raises(ValueError, match="0 cities"):
        made_up(7, 0)


def test_a_start_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        readings(7, 1, datetime(2026, 1, 8))
