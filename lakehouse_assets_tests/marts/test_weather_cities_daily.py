"""marts.weather_cities_daily: what was read in a city on a day, each reading counted alike."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.weather_cities_daily import weather_cities_daily as daily
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows

LAST = datetime(2026, 1, 8, 23, 59, tzinfo=timezone.utc)


def minute(start: datetime, city: str, *values: int) -> Row:
    return {
        "city": city, "window_start": start, "window_end": start + timedelta(minutes=1),
        "avg_temperature": sum(values) / len(values), "record_count": len(values),
        "min_temperature_f": float(min(values)), "max_temperature_f": float(max(values)),
        "sum_temperature_f": Decimal(sum(values)), "is_open": False,
    }  # fmt: skip


def test_a_day_ends_at_midnight_and_counts_readings_not_minutes(lake: Lake) -> None:
    given = [
        minute(LAST, "Boston", 10, 20, 30), minute(LAST - timedelta(minutes=5), "Boston", 80),
        minute(LAST + timedelta(minutes=1), "Boston", -5), minute(LAST, "Denver", 7),
    ]  # fmt: skip
    (minutes,) = daily.parents.values()
    found = result(daily, minutes=rows(lake.spark, minutes.contract, *given))
    assert [tuple(row.values()) for row in found] == [
        (date(2026, 1, 8), "Boston", 4, 2, 35.0, 10.0, 80.0),
        (date(2026, 1, 8), "Denver", 1, 1, 7.0, 7.0, 7.0),
        (date(2026, 1, 9), "Boston", 1, 1, -5.0, -5.0, -5.0),
    ]
