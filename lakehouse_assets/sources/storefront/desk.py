"""Where a transaction of the shop's traffic is done: it writes rows, and chooses those to change.

A choice is the first row behind a drawn id: an index finds it however large the shop is.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg

from lakehouse_assets.sources.storefront.making import Maker
from lakehouse_assets.sources.storefront.rows import TABLES, Row

LOOKED_AT = 200  # rows, for one that has no order
INSTANT = timedelta(microseconds=1)

Found = tuple[Any, ...]


class Desk:
    def __init__(
        self, connection: psycopg.Connection, maker: Maker, clock: Callable[[], datetime]
    ) -> None:
        self.connection, self.maker, self.rng = connection, maker, maker.rng
        self._clock, self._last = clock, clock()

    def now(self) -> datetime:
        """Never the same twice, and never back: nothing is changed before it was made."""
        self._last = max(self._clock(), self._last + INSTANT)
        return self._last

    def add(self, row: Row) -> int:
        """Its id, if it has one of its own."""
        kind, said = type(row), row._asdict()
        if kind.__name__ != "OrderItem":
            said.pop("id")
        names, marks = ", ".join(said), ", ".join(["%s"] * len(said))
        statement = f"insert into {TABLES[kind]} ({names}) values ({marks})"
        if "id" not in kind._fields:
            self.run(statement, *said.values())
            return 0
        return int(self.the(f"{statement} returning id", *said.values())[0])

    def run(self, statement: str, *said: object) -> int:
        """How many rows it touched."""
        return self.connection.execute(statement.encode(), said).rowcount

    def all(self, statement: str, *said: object) -> list[Found]:
        return self.connection.execute(statement.encode(), said).fetchall()

    def one(self, statement: str, *said: object) -> Found | None:
        return self.connection.execute(statement.encode(), said).fetchone()

    def the(self, statement: str, *said: object) -> Found:
        """The one row that there must be."""
        found = self.one(statement, *said)
        assert found is not None, f"no row: {statement}"
        return found

    def any(self, table: str, columns: str, where: str = "true") -> Found | None:
        """Some row, None if there is none. `where` is what an index finds, or most rows have."""
        low, high = self.the(f"select min(id), max(id) from {table} where {where}")
        if low is None:
            return None
        return self.one(
            f"select {columns} from {table} where {where} and id >= %s order by id limit 1",
            self.rng.randint(low, high),
        )

    def order(self, *statuses: str) -> Found | None:
        """Id, total and discount of some order that stands so."""
        status = self.rng.choice(statuses)
        return self.any("orders", "id, total, discount", f"status = '{status}'")

    def idle(self, table: str, used: str) -> int | None:
        """A customer or product, of those behind a drawn id, whom no row of `used` names."""
        low, high = self.the(f"select min(id), max(id) from {table}")
        if low is None:
            return None
        found = self.one(
            f"select id from (select id from {table} where id >= %s order by id limit {LOOKED_AT})"
            f" as few where not exists (select from {used} = few.id) order by id limit 1",
            self.rng.randint(low, high),
        )
        return found[0] if found else None
