"""Whether PostgreSQL's `weather` and the lake's table say the same: row by row, day by day.

It is compared with the batch that it says it has consumed, so that whatever comes meanwhile makes
no difference; how far behind the newest one that may be is judged beside it.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any

import psycopg
from psycopg.errors import UndefinedTable
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.snapshots import Snapshot

from lakehouse_assets.lake.catalog import Catalog, NoTable, stamped
from lakehouse_assets.lake.head import Head
from lakehouse_assets.serving.database import transaction
from lakehouse_assets.serving.weather import (
    COLUMNS,
    KEY,
    TABLE,
    Consumed,
    consumed_in,
    rows,
    within,
)

ON_ITS_WAY = timedelta(minutes=5)  # that it may be behind
SHOWN = 3  # places of a kind
DAY = timedelta(days=1)


@dataclass
class Finding:
    """What differs: how many rows, and some of them."""

    rows: int = 0
    behind: int = 0  # batches
    late: str = ""  # how they are too late
    wrong: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_alike(self) -> bool:
        return not (self.wrong or self.late)

    def add(self, kind: str, places: list[Any]) -> None:
        if places:
            told = self.wrong.setdefault(kind, {"rows": 0, "for example": []})
            told["rows"] += len(places)
            shown = sorted(map(_told, places))
            told["for example"] = [*told["for example"], *shown][:SHOWN]


def look(catalog: Catalog) -> Finding:
    try:
        head = catalog.head(TABLE)
    except NoTable:
        return Finding()
    with transaction() as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            consumed = consumed_in(connection)
        except UndefinedTable:
            return Finding(late="there is no table, since nothing has been brought there yet")
        return _compared(catalog, connection, head, consumed)


def _compared(
    catalog: Catalog, connection: psycopg.Connection, head: Head, consumed: Consumed
) -> Finding:
    table, found = catalog.load(TABLE), Finding()
    history = [*stamped(table, table.snapshot_by_id(head.snapshot_id))]
    places = [(stamp.epoch, stamp.commit) for stamp, _ in history]
    snapshot = head.snapshot_id
    if (consumed.epoch, consumed.batch) in places:
        found.behind = places.index((consumed.epoch, consumed.batch))
        snapshot = history[found.behind][1].snapshot_id
    else:
        found.behind = len(places)
    if found.behind:
        found.late = _too_late(history[found.behind - 1][1], found.behind)
        if found.behind == len(places):  # of what was consumed nobody knows any more what it was
            return found
    for day in _days(table, snapshot, connection):
        _compare_day(catalog, snapshot, connection, day, found)
    return found


def _too_late(first: Snapshot, batches: int) -> str:
    """`first`: the oldest batch that is not there."""
    at = datetime.fromtimestamp(first.timestamp_ms / 1000, timezone.utc)
    if datetime.now(timezone.utc) - at < ON_ITS_WAY:
        return ""
    return f"{batches} batches are missing, the first one since {at:%Y-%m-%d %H:%M:%S} UTC"


def _days(table: IcebergTable, snapshot: int, connection: psycopg.Connection) -> list[date]:
    there = connection.execute("select distinct window_start::date from weather").fetchall()
    days = {day for (day,) in there}
    scan = table.scan(selected_fields=(KEY[1],), snapshot_id=snapshot)
    for batch in scan.to_arrow_batch_reader():
        days.update(batch.column(0).cast("date32").unique().to_pylist())
    return sorted(days)


def _compare_day(
    catalog: Catalog, snapshot: int, connection: psycopg.Connection, day: date, found: Finding
) -> None:
    begin = datetime(day.year, day.month, day.day, tzinfo=timezone.utc)
    end, at = begin + DAY, KEY[1]
    lake = {row[:2]: row[2:] for row in rows(catalog, snapshot, within(at, begin, end))}
    asked = f"select {', '.join(COLUMNS)} from weather where {at} >= %s and {at} < %s"
    span = [begin.replace(tzinfo=None), end.replace(tzinfo=None)]
    there = {row[:2]: row[2:] for row in connection.execute(asked.encode(), span)}
    found.rows += len(lake)
    found.add("missing", [*lake.keys() - there.keys()])
    found.add("in excess", [*there.keys() - lake.keys()])
    found.add("other", [key for key in lake.keys() & there.keys() if lake[key] != there[key]])


def _told(place: tuple[str, datetime]) -> str:
    city, start = place
    return f"{start:%Y-%m-%d %H:%M} {city}"
