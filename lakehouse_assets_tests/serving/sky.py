"""What the tests of PostgreSQL's `weather` share: readings that become minutes, and what is there.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.analytics.weather_by_minute import weather_by_minute
from lakehouse_assets.commands.compare import rows_of
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.serving.database import transaction
from lakehouse_assets.serving.weather import COLUMNS
from lakehouse_assets_tests.lake.tables import add

READINGS, MINUTES = weather_by_minute.parents.values()
NOON = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)

Row = tuple[Any, ...]


class Sky:
    def __init__(self, lake: Lake) -> None:
        self.lake = lake

    def read(self, *given: tuple[int, float], cities: Sequence[str] = (), second: int = 0) -> None:
        """Temperatures by the minute after noon, up to the table of minutes; of these cities, one
        each, else all of Boston.
        """
        names = cities or ["Boston"] * len(given)
        starts = [(NOON + n * MINUTE, value) for n, value in given]
        add(self.lake, READINGS, *[
            {"city": city, "read_at": start + timedelta(seconds=second), "temperature_f": value,
             "window_start": start, "window_end": start + MINUTE}
            for (start, value), city in zip(starts, names, strict=True)
        ], stated=False)  # fmt: skip
        for table in (MINUTES, weather_by_minute):
            advance(self.lake, table)

    def minutes(self) -> list[Row]:
        """As the lake has them."""
        found = rows_of(weather_by_minute.name)
        return sorted(
            tuple(v.replace(tzinfo=None) if isinstance(v, datetime) else v
                  for v in (row[name] for name in COLUMNS)) for row in found
        )  # fmt: skip

    def served(self) -> list[Row]:
        """As PostgreSQL has them."""
        asked = f"select {', '.join(COLUMNS)} from weather"
        with transaction() as connection:
            return sorted(connection.execute(asked.encode()).fetchall())

    def touched(self) -> dict[int, datetime]:
        """When each minute of Boston was written last."""
        asked = "select window_start, last_updated from weather where city = 'Boston'"
        with transaction() as connection:
            found = connection.execute(asked.encode()).fetchall()
        return {(start.replace(tzinfo=timezone.utc) - NOON) // MINUTE: at for start, at in found}

    def do(self, statement: str) -> None:
        with transaction() as connection:
            connection.execute(statement.encode())

    def forget(self) -> None:
        self.do("truncate weather")
        self.do("update consumed set epoch = 0, batch = 0")
