"""Years of a shop's life at once: customers, products, and orders with what became of them.

It comes by COPY and in batches, each one transaction that is whole in itself: of a seeding that is
killed a smaller shop is left. Ids are given out here; their sequences are moved before they are
used, so that traffic goes on behind them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count, islice
from typing import NamedTuple, TypeVar

import psycopg

from lakehouse_assets.sources.storefront.database import is_empty, next_run
from lakehouse_assets.sources.storefront.making import MAX_LINES, Maker, Sold
from lakehouse_assets.sources.storefront.past import Ids, Past, past
from lakehouse_assets.sources.storefront.rows import (
    NAMES,
    TABLES,
    Address,
    Category,
    Customer,
    Order,
    Payment,
    Product,
    Row,
    Shipment,
)
from lakehouse_assets.sources.storefront.shared import EVERY, Shared, usual_people
from lakehouse_assets.sources.webhooks.people import Person

BATCH = 10_000  # orders, or customers, of a transaction
CUSTOMERS_OVER, ORDERS_OVER = timedelta(days=3 * 365), timedelta(days=2 * 365)
IDLE_EVERY, UNSOLD_EVERY = 10, 20  # of so many customers, or products, one never has an order

Made = TypeVar("Made")


class Sizes(NamedTuple):
    customers: int = 2_000
    products: int = 300
    orders: int = 10_000


class NotEmptyError(RuntimeError):
    """There is a shop already, and nobody said to add to it."""


class Buyer(NamedTuple):
    id: int
    address: int


def seed_shop(
    connection: psycopg.Connection,
    sizes: Sizes,
    seed: int,
    now: datetime,
    is_added: bool = False,
    on_progress: Callable[[int], None] | None = None,
    people: Sequence[Person] | None = None,
) -> dict[str, int]:
    """How many rows were written to each table; `on_progress` hears of how many orders so far.

    `people`: whom the vendors know and who are customers here, too; None: those that `shared` finds
    by the seed. What is added has customers and products of its own, on the shelves that are there.
    """
    if not is_added and not is_empty(connection):
        raise NotEmptyError("The shop is not empty")
    seeding = _Seeding(connection, sizes, seed, now)
    seeding.products()
    known = usual_people(seed, now) if people is None else people
    seeding.customers(Shared(seed, () if is_added else known))
    done = 0
    for orders in _batches(seeding.orders()):
        seeding.write(row for order in orders for row in order.rows())
        done += len(orders)
        if on_progress:
            on_progress(done)
    # Else what was just written would be counted once more after it has been counted.
    connection.execute("select pg_stat_force_next_flush()")
    for name in NAMES:
        connection.execute(f"analyze {name}")
    return seeding.written


class _Seeding:
    def __init__(
        self, connection: psycopg.Connection, sizes: Sizes, seed: int, now: datetime
    ) -> None:
        self._connection, self._sizes, self._now = connection, sizes, now
        self._ids = {
            kind: count(self._first_id(name)) for kind, name in TABLES.items()
            if "id" in kind._fields
        }  # fmt: skip
        self._maker = Maker(f"seeding/{seed}/{next_run(connection)}")
        self._buyers: list[Buyer] = []
        self._sold: list[Sold] = []
        self.written = dict.fromkeys(NAMES, 0)

    def products(self) -> None:
        """All of them are there before the first order."""
        shelves, began, rows = self._shelves(), self._now - CUSTOMERS_OVER, []
        gap = (CUSTOMERS_OVER - ORDERS_OVER) / self._sizes.products
        for n in range(self._sizes.products):
            id, is_sold = self._id(Product), n % UNSOLD_EVERY != UNSOLD_EVERY - 1
            shelf, at = shelves[n % len(shelves)], began + n * gap
            row = self._maker.product(id, shelf, at, is_sold)
            rows.append(row)
            if is_sold:
                self._sold.append(Sold(id, row.price))
        for some in _batches(rows):
            self.write(some)

    def _shelves(self) -> list[tuple[int, str, str]]:
        """Those that are there; else they are made."""
        there = self._connection.execute(
            "select c.id, p.name, c.name from categories c join categories p on p.id = c.parent_id"
            " order by c.id"
        ).fetchall()
        if there:
            return there
        rows, found = [], []
        for department, shelves in self._maker.categories(self._now - CUSTOMERS_OVER):
            parent = self._id(Category)
            rows.append(department._replace(id=parent))
            for shelf in shelves:
                id = self._id(Category)
                rows.append(shelf._replace(id=id, parent_id=parent))
                found.append((id, department.name, shelf.name))
        self.write(rows)
        return found

    def customers(self, shared: Shared) -> None:
        for some in _batches(range(self._sizes.customers)):
            rows: list[Row] = []
            for n in some:
                at = self._now - CUSTOMERS_OVER * (1 - n / self._sizes.customers)
                id = self._id(Customer)
                customer = self._maker.customer(id, at)
                if n % EVERY == 0:
                    customer = shared.instead(customer)
                places = [
                    place._replace(id=self._id(Address))
                    for place in self._maker.addresses(id, customer.country, at)
                ]
                rows += [customer, *places]
                self._buyers.append(Buyer(id, places[0].id or 0))
            self.write(rows)

    def orders(self) -> Iterator[Past]:
        """In the order of their ids, each by somebody who was a customer by then."""
        rng, ids = self._maker.rng, Ids(self._ids[Payment], self._ids[Shipment])
        for n in range(self._sizes.orders):
            at = self._now - ORDERS_OVER * (1 - (n + rng.random()) / self._sizes.orders)
            known = (1 - (self._now - at) / CUSTOMERS_OVER) * len(self._buyers)
            who = int(rng.random() * known)
            buyer = self._buyers[who - (who % IDLE_EVERY == IDLE_EVERY - 1)]
            sold = rng.choices(self._sold, k=rng.randint(1, MAX_LINES))
            placed = self._maker.order(self._id(Order), buyer.id, buyer.address, sold, at)
            yield past(self._maker, placed, ids, self._now)

    def write(self, rows: Iterable[Row]) -> None:
        """In one transaction, parents before children."""
        found: dict[type[Row], list[Row]] = defaultdict(list)
        for row in rows:
            found[type(row)].append(row)
        with self._connection.transaction():
            for kind, name in TABLES.items():
                if found[kind]:
                    self._copy(kind, name, found[kind])
                    self.written[name] += len(found[kind])

    def _copy(self, kind: type[Row], name: str, rows: list[Row]) -> None:
        cursor = self._connection.cursor()
        if kind in self._ids:
            last = max(row[0] or 0 for row in rows)
            cursor.execute(f"select setval(pg_get_serial_sequence('{name}', 'id'), %s)", [last])
        with cursor.copy(f"copy {name} ({', '.join(kind._fields)}) from stdin") as copy:
            for row in rows:
                copy.write_row(row)

    def _first_id(self, table: str) -> int:
        """One that nobody has, nor will get."""
        found = self._connection.execute(
            f"select nextval(pg_get_serial_sequence('{table}', 'id'))"
        ).fetchone()
        assert found
        return int(found[0])

    def _id(self, kind: type[Row]) -> int:
        return next(self._ids[kind])


def _batches(things: Iterable[Made]) -> Iterator[list[Made]]:
    left = iter(things)
    while some := list(islice(left, BATCH)):
        yield some
