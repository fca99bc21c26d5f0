"""Changes of the shop, as staging has them, and what becomes of them in any number of batches."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.staging.storefront import RESETS
from lakehouse_assets_tests.lake.tables import add, result
from lakehouse_assets_tests.support import rows, stored

Row = dict[str, Any]

T0 = datetime(2026, 5, 1, 10, tzinfo=timezone.utc)


def at(minute: int) -> datetime:
    return T0 + timedelta(minutes=minute)


def change(op: str, lsn: int, minute: int | None = None, **row: Any) -> Row:
    """A change that the database committed at that minute, by default that of its place."""
    born = {"arrived_at": at(lsn)} | ({"created_at": T0} if op not in RESETS else {})
    when = at(lsn if minute is None else minute)
    return born | row | {"op": op, "lsn": lsn, "changed_at": when, "event_date": when.date()}


def after(lake: Lake, table: LakeTable, *batches: Sequence[Row]) -> list[Row]:
    """The table's rows when the batches came one by one, which are those of a rebuild."""
    (changes,) = table.parents.values()
    for batch in batches:
        add(lake, changes, *batch, stated=False)
        advance(lake, table)
    found = stored(table.name)
    rebuild(lake, table)
    assert stored(table.name) == found
    return found


def told(found: Sequence[Row], table: LakeTable, what: str) -> dict[int, Any]:
    """A column's values by the first column of the key."""
    return {row[table.contract.key()[0]]: row[what] for row in found}


def last_stands(lake: Lake, table: LakeTable, what: str, old: Any, new: Any) -> None:
    """Of a table of what is there now: the last change of each key in the log, though a clock went
    back; nothing of what was deleted or swept away.
    """
    keys = table.contract.key()

    def row(number: int, value: Any) -> Row:
        return dict.fromkeys(keys, number) | {what: value}

    (changes,) = table.parents.values()
    given = [
        change("c", 1, **row(1, old)), change("u", 9, minute=1, **row(1, new)),
        change("u", 4, minute=99, **row(1, old)), change("c", 3, **row(2, old)),
        change("d", 5, **row(2, old)), change("u", 4, **row(2, new)), change("c", 2, **row(3, old)),
    ]  # fmt: skip
    found = result(table, changes=rows(lake.spark, changes.contract, *given))
    assert told(found, table, what) == {1: new, 3: old}
    sweep = change("t", 6, **dict.fromkeys(keys))
    found = result(table, changes=rows(lake.spark, changes.contract, *given, sweep))
    assert told(found, table, what) == {1: new}
    late = {"arrived_at": at(12)}
    snapshot = [  # of 1 and 3; meanwhile 1 was changed back, 3 deleted and 4 made
        change("s", 11, **dict.fromkeys(keys), arrived_at=at(11)),
        change("r", 11, **row(1, new), arrived_at=at(11)),
        change("r", 11, **row(3, new), arrived_at=at(11)),
        change("u", 10, **row(1, old) | late), change("d", 10, **row(3, new) | late),
        change("c", 10, **row(4, new) | late), change("c", 10, **row(5, new), arrived_at=at(10)),
    ]  # fmt: skip
    found = result(table, changes=rows(lake.spark, changes.contract, *given, *snapshot))
    assert told(found, table, what) == {1: old, 4: new}, "committed after it, begun before"
