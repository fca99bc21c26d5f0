"""The truth of the weather, told by hand for a few records."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.sources.weather.truth import QUARANTINE, Delivered, Truth, expected

NOON = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


def told(*given: tuple[float, object, object], first: datetime = NOON) -> Truth:
    """Records of one partition: seconds after noon, city, temperature."""
    return expected([
        Delivered("weather", 0, n, NOON + timedelta(seconds=s), None,
                  json.dumps({"city": city, "temperature": said, "ts": "?"}).encode())
        for n, (s, city, said) in enumerate(given)
    ], first)  # fmt: skip


def test_minutes_are_averaged_by_city_and_the_newest_is_open() -> None:
    truth = told((1, "A", "1.1"), (59.999, "A", "2.2"), (60, "A", "5"), (3, "B", "7"))
    assert [(r["city"], r["avg_temperature"], r["sum_temperature_f"], r["is_open"])
            for r in truth["analytics.weather_by_minute"]] == [
        ("A", 1.65, Decimal("3.3"), False), ("A", 5.0, 5, True), ("B", 7.0, 7, False),
    ]  # fmt: skip
    assert [r["is_open"] for r in truth["semantic.weather_minutes"]] == [False, True]
    (a, b) = truth["marts.weather_cities_daily"]
    assert (a["readings"], a["minutes"], a["avg_temperature_f"]) == (3, 2, 8.3 / 3)
    assert (b["city"], b["min_temperature_f"]) == ("B", 7.0)


def test_the_same_reading_again_counts_once() -> None:
    truth = told((1, "A", "1"), (1, "A", "1.0"), (1, "A", "2"))
    (row,) = truth["analytics.weather_by_minute"]
    assert (row["record_count"], row["avg_temperature"]) == (2, 1.5)


def test_what_is_no_reading_is_set_aside_with_its_reason() -> None:
    truth = told((0, "A", "NaN"), (0, "A", "1e400"), (0, "A", "-151"), (0, None, "1"),
                 (0, "", "1"), (0, "a\0", None), (3_900, "A", "1"))  # fmt: skip
    assert [r["reason"] for r in truth[QUARANTINE]] == [
        "temperature_f_present", "temperature_f_at_most_200", "temperature_f_at_least_minus_150",
        "city_present", "city_readable", "temperature_f_present, city_readable",
    ]  # fmt: skip
    assert len(truth["staging.stg_weather_readings"]) == 1, "of its own hour, and so not early"


def test_an_hour_is_over_with_the_first_record_of_a_later_one() -> None:
    truth = told((-7_200, "A", "1"), (10, "A", "2"), (3_600, "A", "3"), (20, "A", "4"))
    assert [r["ingest_hour"] for r in truth["raw.weather"]] == [
        NOON, NOON, NOON + HOUR, NOON + HOUR,
    ]  # fmt: skip
