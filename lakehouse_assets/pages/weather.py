"""The weather's minutes as the dashboard shows them, read from Postgres: `analytics`, `weather`.

What is answered is bounded: the newest MINUTES minutes of each of the CITIES cities that were
written last. Per city they are found by the key, so the answer costs the same however long the
table has grown. Its timestamps are UTC and have no zone.
"""

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

TABLE = "weather"
MINUTES, CITIES = 180, 60  # of each city; of all
STALE_S = 120  # without a write: data has stopped
CONNECT_S, ANSWER_MS = 3, 4_000
SHOWN = 60  # characters of what could not be read
NONE_YET = (
    "No weather yet. Once readings arrive (`lakehouse up weather`) the first minutes show here"
    " within seconds; this page need not be loaded again."
)
AWAY = "Postgres does not answer. `lakehouse up postgres` starts it, `lakehouse status` shows it."

# The cities one by one along the key, instead of reading every minute of each; then of each the
# newest minutes, backwards along the key.
NEWEST = f"""
with recursive named (city) as (
    (select city from {TABLE} order by city limit 1)
    union all
    select (select w.city from {TABLE} w where w.city > n.city order by w.city limit 1)
    from named n where n.city is not null
), lately as (
    select n.city, newest.window_start from named n
    cross join lateral (select window_start from {TABLE} w where w.city = n.city
                        order by window_start desc limit 1) newest
    where n.city is not null
), shown as (select city from lately order by window_start desc, city limit {CITIES})
select m.city, m.avg_temperature, m.window_start, m.record_count,
    coalesce(m.last_updated, m.window_end, m.window_start) as written_at,
    (select count(*) from lately) as cities
from shown cross join lateral (
    select * from {TABLE} w where w.city = shown.city order by window_start desc limit {MINUTES}
) m
where %(since)s::timestamp is null
    or coalesce(m.last_updated, m.window_end, m.window_start) > %(since)s
order by m.city, m.window_start
"""
NO_SUCH = ("3D000", "42P01")  # SQLSTATE: no such database, no such table
NOT_YET = ("does not exist", "authentication failed")  # said before a session, which has no code
NOT_NOW = ("08", "53", "57")  # its classes: no connection, too many of them, shut down or too slow


class BadSince(ValueError):
    """`since` is no moment."""


class Away(Exception):
    """Postgres does not answer; says what to do."""


@dataclass(frozen=True)
class Minute:
    """One city's minute, and when it was last written."""

    city: str
    temperature: float | None  # °F
    at: datetime
    readings: int
    written_at: datetime


@dataclass(frozen=True)
class Minutes:
    found: list[Minute]
    cities: int  # in the table, shown or not
    note: str = ""  # why there are none

    @property
    def written_at(self) -> datetime | None:
        return max((m.written_at for m in self.found), default=None)


def minutes(since: datetime | None = None) -> Minutes:
    """All that are shown, or those of them that were written after a moment: new ones and
    corrections of old ones alike.
    """
    import psycopg

    from lakehouse_assets.serving.database import pages_dsn

    options = f"-c statement_timeout={ANSWER_MS} -c default_transaction_read_only=on -c jit=off"
    try:
        with psycopg.connect(
            pages_dsn(), autocommit=True, connect_timeout=CONNECT_S, options=options
        ) as connection:
            rows = connection.execute(NEWEST.encode(), {"since": _plain(since)}).fetchall()
    except psycopg.Error as error:
        if error.sqlstate in NO_SUCH or any(said in str(error) for said in NOT_YET):
            return Minutes([], 0, NONE_YET)
        if error.sqlstate is None or error.sqlstate.startswith(NOT_NOW):
            raise Away(AWAY) from None
        raise
    found = [Minute(city, degrees, _utc(at), n or 0, _utc(written))
             for city, degrees, at, n, written, _ in rows]  # fmt: skip
    note = "" if found or since else NONE_YET
    return Minutes(found, rows[0][-1] if rows else 0, note)


def told(found: Minutes, since: datetime | None = None) -> dict[str, Any]:
    """As the API answers: `cities` and `data` by city, and what the page needs beside them."""
    by_city: dict[str, list[dict[str, Any]]] = {}
    for m in found.found:
        point = {"time": spelled(m.at), "temperature": m.temperature, "readings": m.readings}
        by_city.setdefault(m.city, []).append(point)
    newest = found.written_at or since
    return {
        "cities": list(by_city),
        "data": by_city,
        **({} if since else {"cities_in_all": found.cities}),
        "since": spelled(newest, "microseconds") if newest else None,  # what to ask with next
        "now": spelled(datetime.now(timezone.utc)),
        "minutes_kept": MINUTES,
        "stale_after_s": STALE_S,
        "note": found.note,
    }


def parsed_since(text: str) -> datetime:
    """ISO 8601; without a zone it is UTC."""
    try:
        # A + that was not encoded arrives as a space.
        day, t, time = text.strip().replace("Z", "+00:00").partition("T")
        moment = datetime.fromisoformat(day + t + time.replace(" ", "+"))
    except ValueError:
        raise BadSince(
            f"since={text[:SHOWN]!r} is no timestamp. Say one in ISO 8601, e.g. "
            "since=2026-01-08T14:30:00.000Z; each answer's `since` is the one to ask with next."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def spelled(moment: datetime, precision: str = "milliseconds") -> str:
    return moment.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc)


def _plain(moment: datetime | None) -> datetime | None:
    return moment.astimezone(timezone.utc).replace(tzinfo=None) if moment else None
