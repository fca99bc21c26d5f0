"""Bringing PostgreSQL's `weather` up to `analytics.weather_by_minute`, in one transaction.

The minutes that changed since the batch that was consumed take the place of theirs, and which batch
that is now is stored with them. Where the batches do not tell what changed (the table was rebuilt,
rows went away) everything is compared and what differs is replaced. So a run that is killed or
doubled leaves what was there, or what must be there, and nothing between.

The row of `consumed` is locked first, and only then the lake is asked for its newest batch: of two
writers the second one sees at least what the first one did.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.errors import UndefinedTable

from lakehouse_assets.lake import scope, waypoint
from lakehouse_assets.lake.catalog import Catalog, NoTable
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.serving.database import migrate_analytics, transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLE, OURS = "analytics.weather_by_minute", "postgres.weather"
KEY = ("city", "window_start")
VALUES = ("avg_temperature", "window_end", "record_count")
COLUMNS = (*KEY, *VALUES)
ALL = "true"
AT_ONCE = 10_000  # rows in memory

FRESH = "create temporary table fresh (like weather) on commit drop"
REPLACE = """
    insert into weather (city, window_start, avg_temperature, window_end, record_count)
    select city, window_start, avg_temperature, window_end, record_count from fresh
    on conflict (city, window_start) do update set
        avg_temperature = excluded.avg_temperature, window_end = excluded.window_end,
        record_count = excluded.record_count, last_updated = current_timestamp
    where (weather.avg_temperature, weather.window_end, weather.record_count) is distinct from
        (excluded.avg_temperature, excluded.window_end, excluded.record_count)
"""
REMOVE = """
    delete from weather as old where not exists (
        select from fresh where fresh.city = old.city and fresh.window_start = old.window_start)
"""


@dataclass(frozen=True)
class Consumed:
    """Up to which batch of the lake's table."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Brought:
    consumed: Consumed
    read: int = 0  # rows of the lake's table
    written: int = 0  # those that differed
    removed: int = 0
    whole: bool = False  # everything was compared


def bring(catalog: Catalog, anew: bool = False) -> Brought:
    """`anew`: compare everything, whatever was consumed."""
    try:
        return _bring(catalog, anew)
    except UndefinedTable:  # the first one here
        migrate_analytics()
        return _bring(catalog, anew)


def consumed() -> Consumed:
    with transaction() as connection:
        return consumed_in(connection)


def _bring(catalog: Catalog, anew: bool) -> Brought:
    with transaction() as connection:
        before = consumed_in(connection, "for update")
        try:
            head = catalog.head(TABLE)
        except NoTable:
            return Brought(before)
        after = Consumed(head.stamp.epoch, head.stamp.commit)
        waypoint.passed("read", OURS)
        if after == before and not anew:
            return Brought(before)
        changed = None if anew else _changed(catalog, head, before)
        read = _copy(connection, rows(catalog, head.snapshot_id, changed or ALL))
        removed = connection.execute(REMOVE).rowcount if changed is None else 0
        written = connection.execute(REPLACE).rowcount
        connection.execute(
            "update consumed set epoch = %s, batch = %s where lake_table = %s",
            [after.epoch, after.batch, TABLE],
        )
        waypoint.passed("publish", OURS)
    waypoint.passed("published", OURS)
    return Brought(after, read, written, removed, whole=changed is None)


def consumed_in(connection: psycopg.Connection, lock: str = "") -> Consumed:
    asked = f"select epoch, batch from consumed where lake_table = %s {lock}"
    found = connection.execute(asked.encode(), [TABLE]).fetchone()
    assert found, f"the migrations of {OURS} leave a row in consumed"
    return Consumed(*found)


def _changed(catalog: Catalog, head: Head, before: Consumed) -> str | None:
    """Which rows changed since, in pyiceberg's SQL; None: that cannot be told."""
    stamps, complete = catalog.commits(TABLE, before.batch)
    is_later = head.stamp.epoch == before.epoch and head.stamp.commit > before.batch
    if not (is_later and complete) or any(stamp.corrects for stamp in stamps):
        return None
    if head.may_have_lost(before.batch):
        return None
    where = f"{COMMIT} > {before.batch}"
    known = scope.touched(catalog, TABLE, before.batch)
    if known and known[1]:
        at, spans = known
        first, last = (m.replace(tzinfo=timezone.utc) for m in (spans[0][0], spans[-1][1]))
        where += f" and {within(at, first, last)}"
    return where


def within(at: str, first: datetime, end: datetime) -> str:
    return f"{at} >= '{first.isoformat()}' and {at} < '{end.isoformat()}'"


def rows(catalog: Catalog, snapshot_id: int, where: str) -> Iterator[tuple[Any, ...]]:
    """The lake's rows as PostgreSQL has them, few at a time; no Spark is asked."""
    scan = catalog.load(TABLE).scan(where, COLUMNS, snapshot_id=snapshot_id)
    for batch in scan.to_arrow_batch_reader():
        for start in range(0, batch.num_rows, AT_ONCE):
            for row in batch.slice(start, AT_ONCE).to_pylist():
                yield tuple(_plain(row[name]) for name in COLUMNS)


def _plain(value: Any) -> Any:
    """Instants without a zone are UTC there."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _copy(connection: psycopg.Connection, given: "Iterable[tuple[Any, ...]]") -> int:
    connection.execute(FRESH)
    count, into = 0, f"copy fresh ({', '.join(COLUMNS)}) from stdin"
    with connection.cursor() as cursor, cursor.copy(into.encode()) as copy:
        for row in given:
            copy.write_row(row)
            count += 1
    connection.execute("analyze fresh")
    return count
