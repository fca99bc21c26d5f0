"""semantic.weather_minutes: the newest minute of which there is a reading is open, no other."""

from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.weather_minutes import weather_minutes
from lakehouse_assets_tests.lake.tables import Row, add
from lakehouse_assets_tests.support import stored

(READINGS,) = weather_minutes.parents.values()
NOON = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)


def read(lake: Lake, *minutes: int | None, second: int = 0) -> list[tuple[int, bool]]:
    """Readings of these minutes after noon; what the table then holds."""
    given: list[Row] = []
    for n in minutes:
        start = None if n is None else NOON + timedelta(minutes=n)
        end = start and start + timedelta(minutes=1)
        at = start and start + timedelta(seconds=second)
        given.append({"city": "Boston", "read_at": at, "temperature_f": 1.0,
                      "window_start": start, "window_end": end})  # fmt: skip
    add(lake, READINGS, *given, stated=False)
    advance(lake, weather_minutes)
    return told()


def told() -> list[tuple[int, bool]]:
    def minute(row: dict[str, Any]) -> int:
        return int((row["window_start"] - NOON) / timedelta(minutes=1))

    return sorted((minute(row), row["is_open"]) for row in stored(weather_minutes.name))


def test_a_newer_minute_closes_the_one_that_was_open(lake: Lake) -> None:
    assert read(lake, 0) == [(0, True)]
    assert read(lake, 2) == [(0, False), (2, True)]
    assert read(lake, 2, second=7) == [(0, False), (2, True)], "another reading of it"
    assert read(lake, 3, 5, 4) == [(0, False), (2, False), (3, False), (4, False), (5, True)]


def test_a_late_minute_opens_nothing_and_a_rebuild_changes_nothing(lake: Lake) -> None:
    read(lake, 5)
    assert read(lake, 1, 3) == [(1, False), (3, False), (5, True)]
    assert read(lake, 3, second=7) == [(1, False), (3, False), (5, True)]
    rebuild(lake, weather_minutes)
    assert told() == [(1, False), (3, False), (5, True)]
    assert read(lake, 6)[-2:] == [(5, False), (6, True)]
