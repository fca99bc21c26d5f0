"""The shop's tables as its database has them now, beside what somebody else holds of them.

Both sides are read once, in key order, and only so much is kept as is shown: a table may be of any
size. One statement reads one state of the table, whatever is written meanwhile.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import psycopg
from psycopg.rows import dict_row

from lakehouse_assets.services.postgres import dsn
from lakehouse_assets.sources.storefront.truth.shape import TABLES, Column

Row = dict[str, Any]
Key = tuple[Any, ...]

DATABASE = "storefront"
EXAMPLES = 5
FETCHED = 2_000  # rows at once
CONNECT_S = 5


@dataclass
class Side:
    """Who holds the rows: how many, and a hash of what they say, in the order of their keys."""

    rows: int = 0
    _hash: Any = field(default_factory=hashlib.sha256, repr=False)

    def reading(self, rows: Iterable[Row], columns: tuple[str, ...], key: tuple[str, ...]
    ) -> Iterator[tuple[Key, str]]:  # fmt: skip
        """Of each row its key and what it says; refused if they are in another order."""
        last: Key | None = None
        for row in rows:
            place = tuple(row[name] for name in key)
            if last is not None and place < last:
                raise ValueError(f"rows in the order of {key} are wanted: {place} is after {last}")
            last, said = place, repr([_plain(row[name]) for name in columns])
            self.rows += 1
            self._hash.update(said.encode("utf-8", "surrogatepass"))
            yield place, said

    @property
    def content(self) -> str:
        return str(self._hash.hexdigest())


@dataclass
class Differences:
    """A table of the shop as somebody holds it (`held`), beside itself (`shop`)."""

    table: str
    held: Side = field(default_factory=Side)
    shop: Side = field(default_factory=Side)
    lacking: int = 0  # keys
    twice: int = 0  # rows too many of a key
    unexpected: int = 0  # keys that the shop does not have
    other: int = 0  # keys with other content
    examples: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        return not (self.lacking or self.twice or self.unexpected or self.other)

    def note(self, what: str, key: Key) -> None:
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{what} {key}")


def rows(name: str, where: str = "") -> Iterator[Row]:
    """A table's rows in key order, with the lake's names and types: what is no number, day,
    instant, flag or list is text as the database prints it. `where`: a connection string.
    """
    table = TABLES[name]
    columns = ", ".join(f'{_asked(column)} as "{column.name}"' for column in table.columns)
    statement = f"select {columns} from public.{name} order by {', '.join(table.key)}"
    place = where or dsn(DATABASE)
    with (
        psycopg.connect(place, row_factory=dict_row, connect_timeout=CONNECT_S) as connection,
        connection.cursor(name="truth") as cursor,
    ):
        cursor.itersize = FETCHED
        cursor.execute(statement.encode())
        yield from cursor


def _asked(column: Column) -> str:
    return f"{column.origin}::text" if column.kind == "text" else column.origin


def differences(name: str, held: Iterable[Row], where: str = "") -> Differences:
    """What differs between rows in key order, from wherever, and the shop's own; columns that the
    shop does not have are not looked at.
    """
    table, found = TABLES[name], Differences(name)
    columns = tuple(column.name for column in table.columns)
    ours = found.held.reading(held, columns, table.key)
    theirs = found.shop.reading(rows(name, where), columns, table.key)
    have, want, last = next(ours, None), next(theirs, None), None
    while have or want:
        if want is None or (have and have[0] < want[0]):
            assert have
            is_again = have[0] == last
            found.twice += is_again
            found.unexpected += not is_again
            found.note("twice" if is_again else "unexpected", have[0])
            last, have = have[0], next(ours, None)
        elif have is None or want[0] < have[0]:
            found.lacking += 1
            found.note("lacking", want[0])
            want = next(theirs, None)
        else:
            if have != want:
                found.other += 1
                found.note("other", have[0])
            last, have, want = have[0], next(ours, None), next(theirs, None)
    return found


def _plain(value: Any) -> Any:
    """One spelling, whichever library read it."""
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value
