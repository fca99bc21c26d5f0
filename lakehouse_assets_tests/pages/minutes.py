"""The table of minutes as its writer makes it, and rows for it."""

from datetime import datetime, timedelta, timezone

import psycopg

TABLE = """
CREATE TABLE weather (
    city VARCHAR(255) NOT NULL,
    avg_temperature DOUBLE PRECISION,
    window_start TIMESTAMP,
    window_end TIMESTAMP,
    record_count BIGINT,
    last_updated TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (city, window_start)
);
grant select on weather to pages
"""
MINUTE = timedelta(minutes=1)
INSERT = """
insert into weather values (%s, %s, %s, %s, %s, %s) on conflict (city, window_start) do update
set avg_temperature = excluded.avg_temperature, record_count = excluded.record_count,
    last_updated = excluded.last_updated
"""


def now() -> datetime:
    """As the table has it: UTC, without a zone."""
    return datetime.now(timezone.utc).replace(tzinfo=None)


def this_minute() -> datetime:
    return now().replace(second=0, microsecond=0)


def write(
    table: psycopg.Connection, city: str, at: datetime, temperature: float | None,
    readings: int = 12, written_at: datetime | None = None,
) -> None:  # fmt: skip
    """A minute, new or corrected, as the lake's own writer leaves it."""
    row = (city, temperature, at, at + MINUTE, readings, written_at or now())
    table.execute(INSERT, row)


def write_hour(table: psycopg.Connection, city: str, base: float, minutes: int = 30) -> datetime:
    """Minutes up to this one; returns the oldest."""
    first = this_minute() - (minutes - 1) * MINUTE
    for n in range(minutes):
        write(table, city, first + n * MINUTE, base + n % 7)
    return first
