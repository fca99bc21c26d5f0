"""Which readings staging must hold, and which records it must set aside, and why."""

import math
import re
from datetime import datetime, timedelta

from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST, MAX_CITY, NUMBER
from lakehouse_assets.sources.weather.truth.raw import Row

TABLE = "staging.stg_weather_readings"
KEY = ("city", "read_at", "temperature_f")
AHEAD = timedelta(minutes=65)  # of the begin of the hour in which it was taken in
MINUTE = timedelta(minutes=1)


def cleaned(row: Row, at: datetime) -> Row:
    """The reading that a record of that timestamp tells of."""
    text = row["temperature"]
    is_number = text is not None and re.fullmatch(NUMBER, text) is not None
    fahrenheit = _double(text) if is_number else None
    start = at.replace(second=0, microsecond=0)
    return {
        "city": row["city"],
        "read_at": at,
        "temperature_f": fahrenheit,
        "temperature_c": None if fahrenheit is None else (fahrenheit - 32) * 5 / 9,
        "window_start": start,
        "window_end": start + MINUTE,
        "arrived_at": at,
    }


def _double(text: str) -> float:
    return float(text) + 0.0  # no negative zero


def refused(row: Row, hour: datetime) -> str:
    """The rules that a reading breaks, in their order; empty for a good one."""
    city, value = row["city"], row["temperature_f"]
    degrees = math.nan if value is None else value
    broken = {
        "city_present": city is None,
        "temperature_f_present": value is None,
        f"temperature_f_at_least_minus_{-COLDEST}": degrees < COLDEST,
        f"temperature_f_at_most_{HOTTEST}": degrees > HOTTEST,
        "city_readable": city is not None and not _is_readable(city),
        "read_at_not_in_future": row["read_at"] >= hour + AHEAD,
    }
    return ", ".join(name for name, is_broken in broken.items() if is_broken)


def _is_readable(city: str) -> bool:
    return 1 <= len(city) <= MAX_CITY and "\0" not in city
