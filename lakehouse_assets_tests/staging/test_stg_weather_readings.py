"""staging.stg_weather_readings: a reading once, typed, in its minute."""

from datetime import datetime, timedelta, timezone

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.weather.around import ODD
from lakehouse_assets.staging.stg_weather_readings import stg_weather_readings
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows

AT = datetime(2026, 1, 8, 14, 59, 59, 999_000, tzinfo=timezone.utc)
HOUR = AT.replace(minute=0, second=0, microsecond=0)
SAID: Row = {
    "city": "Boston", "temperature": "72.5", "ts": "2026-01-08-14", "arrived_at": AT,
    "ingest_hour": HOUR, "topic_generation": 0, "kafka_partition": 0,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    (raw,) = stg_weather_readings.parents.values()
    said = [SAID | {"kafka_offset": n} | one for n, one in enumerate(given)]
    return result(stg_weather_readings, weather=rows(lake.spark, raw.contract, *said))


def test_a_reading_is_typed_and_lies_in_its_minute(lake: Lake) -> None:
    (row,) = staged(lake, {})
    start = datetime(2026, 1, 8, 14, 59, tzinfo=timezone.utc)
    assert row == {
        "city": "Boston", "read_at": AT, "temperature_f": 72.5, "temperature_c": 22.5,
        "window_start": start, "window_end": start + timedelta(minutes=1), "arrived_at": AT,
    }  # fmt: skip


@pytest.mark.parametrize(("text", "number"), [
    ("-150", -150.0), ("200", 200.0), ("+1e2", 100.0), (".5", 0.5), ("72.", 72.0), ("80.59", 80.59),
])  # fmt: skip
def test_a_number_is_one_however_it_is_written(lake: Lake, text: str, number: float) -> None:
    assert [row["temperature_f"] for row in staged(lake, {"temperature": text})] == [number]


def test_the_same_reading_again_is_one_and_another_at_the_same_moment_is_not(lake: Lake) -> None:
    later = {"arrived_at": AT + timedelta(milliseconds=1)}
    found = staged(lake, {}, {}, {"temperature": "72.50"}, {"temperature": "-0"},
                   {"temperature": "0.0"}, later, {"city": "boston"})  # fmt: skip
    assert sorted((r["city"], r["read_at"] > AT, r["temperature_f"]) for r in found) == [
        ("Boston", False, 0.0), ("Boston", False, 72.5), ("Boston", True, 72.5),
        ("boston", False, 72.5),
    ]  # fmt: skip


def test_a_city_stays_as_it_is_written(lake: Lake) -> None:
    found = staged(lake, *[{"city": city} for city in ODD])
    assert {row["city"] for row in found} == {*ODD}


def test_what_is_no_reading_is_refused_and_what_is_late_is_not(lake: Lake) -> None:
    numbers = ("NaN", "Infinity", "-inf", "warm", "", None, "1e400", "-1e400", "200.01",
               "-150.01", "0x1p3", "72.5d", " 72.5", "72,5", "١")  # fmt: skip
    refused: list[Row] = [
        *[{"temperature": text} for text in numbers],
        *[{"city": city} for city in (None, "", "x" * 256, "a\0b")],
        {"arrived_at": HOUR + timedelta(minutes=65)}, {"_error": "malformed"},
    ]  # fmt: skip
    good: list[Row] = [
        {"city": "🌧" * 255}, {"arrived_at": HOUR + timedelta(minutes=64, seconds=59)},
        {"arrived_at": AT - timedelta(days=400)}, {"ts": None},
    ]  # fmt: skip
    assert [bad for bad in refused if staged(lake, bad)] == []
    assert len(staged(lake, *good, *refused)) == len(good)
