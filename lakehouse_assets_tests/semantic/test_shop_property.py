"""Promise 3 on the shop's tables: any split of its changes into batches gives the rows that a
rebuild gives and that the truth tells.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from lakehouse_assets.commands.compare import compare, rows_of
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.sources.storefront.truth import KEYS, facts, lives, marts, shape
from lakehouse_assets.staging.storefront import TABLES
from lakehouse_assets_tests.lake.tables import Row, add, own_lake
from lakehouse_assets_tests.semantic.shop import T0, at, change

NAMES = ("customers", "categories", "products", "orders", "order_items")
MADE: tuple[LakeTable, ...] = tuple(tables()[name] for name in (
    *(f"semantic.storefront_{name}" for name in NAMES), *lives.KEYS, *facts.KEYS, *marts.KEYS,
))  # fmt: skip
RECORDS, STEP = 70, 10  # and places in the log from one to the next
SEED = 0  # another will do, if it leaves something everywhere
STATUS = ("pending", "paid", "cancelled", "refunded", "delivered")

Told = list[tuple[str, Row]]  # by one record


class Happening:
    """Random changes, in the order of Kafka, which a snapshot begins with what stands before it in
    the log.
    """

    def __init__(self, seed: int) -> None:
        self.rng, self.born = Random(seed), dict[tuple[Any, ...], datetime]()

    def records(self) -> Iterator[Told]:
        for number in range(1, RECORDS):
            lsn, draw, name = number * STEP, self.rng.random(), self.rng.choice(NAMES)
            key = self.key(name)
            if draw < 0.06:
                yield [(name, change("t", lsn, **dict.fromkeys(key)))]
            elif draw < 0.16:
                yield from self.snapshot(name, lsn)
            elif draw < 0.24:  # another day: deleted there, new here
                was = self.row("d", name, lsn, key)
                self.born[(name, *key.values())] += timedelta(days=self.rng.randrange(1, 40))
                yield [(name, was), (name, self.row("u", name, lsn, key))]
            else:
                op = "d" if draw < 0.36 else "c" if draw < 0.6 else "u"
                yield [(name, self.row(op, name, lsn, key))]

    def snapshot(self, name: str, lsn: int) -> Iterator[Told]:
        """Of two rows, and two changes that were begun before it and committed after."""
        first, last = self.rng.sample(range(4), k=2)
        yield [(name, self.row("r", name, lsn, self.key(name, first)))]
        key = self.key(name, last)
        reset = change("s", lsn, **dict.fromkeys(key))
        yield [(name, reset), (name, self.row("r", name, lsn, key))]
        for before, op in ((2, "u"), (1, "d")):
            late = self.row(op, name, lsn - before, self.key(name))
            yield [(name, late | {"arrived_at": at(lsn + 1)})]

    def key(self, name: str, number: int | None = None) -> Row:
        number = self.rng.randrange(4) if number is None else number
        if name == "order_items":
            return {"order_id": number // 2, "line": 1 + number % 2}
        return {shape.TABLES[name].key[0]: number}

    def row(self, op: str, name: str, lsn: int, key: Row) -> Row:
        some, choice = self.rng.randrange, self.rng.choice
        said: dict[str, Row] = {
            "customers": {"segment": choice(("new", "vip")), "country": "DE",
                          "email": f"m{some(9)}", "is_subscribed": some(2) == 0},
            "categories": {"name": f"shelf {some(3)}"},
            "products": {"category_id": some(4), "sku": "T", "name": f"Tea {some(3)}",
                         "price": Decimal(1 + some(900)).scaleb(-2), "currency": "EUR",
                         "is_active": some(2) == 0},
            "orders": {"customer_id": some(4), "status": choice(STATUS), "currency": "EUR",
                       "discount": Decimal(some(300)).scaleb(-2)},
            "order_items": {"product_id": some(4), "quantity": 1 + some(3),
                            "unit_price": Decimal(1 + some(900)).scaleb(-2)},
        }  # fmt: skip
        first = T0 + timedelta(days=sum(key.values()))
        born = self.born.setdefault((name, *key.values()), first)
        return change(op, lsn, **key, **said[name], created_at=born, updated_at=at(lsn))


def expected(events: Told) -> dict[str, list[Row]]:
    told: dict[str, list[Row]] = {}
    for name in NAMES:
        blank = dict.fromkeys(TABLES[name].contract.columns)
        told[TABLES[name].name] = staged = [blank | row for of, row in events if of == name]
        told[f"semantic.storefront_{name}"] = lives.current(shape.TABLES[name], staged)
    told |= lives.histories(told)
    told |= facts.tables(told)
    return told | marts.tables(told)


def check(want: dict[str, list[Row]]) -> None:
    for table in MADE:
        have = [{n: v for n, v in r.items() if n[0] != "_"} for r in rows_of(table.name)]
        found = compare(table.name, KEYS[table.name], have, want[table.name])
        assert found.is_equal, (table.name, found.examples)


def interleaved(records: list[Told], rng: Random) -> list[Told]:
    """As partitions are read: a row's records in their order, those of others anywhere between."""
    places, of_row = [*range(len(records))], defaultdict[Any, list[Any]](list)
    rng.shuffle(places)
    for place, record in zip(places, records, strict=True):
        name, row = record[-1]
        of_row[(name, *(row[key] for key in shape.TABLES[name].key))].append((place, record))
    found: list[tuple[int, Told]] = []
    for some in of_row.values():
        found += zip(sorted(place for place, _ in some), (r for _, r in some), strict=True)
    return [record for _, record in sorted(found, key=lambda one: one[0])]


def tell(lake: Lake, batch: Told) -> None:
    for name in NAMES:
        if rows := [row for of, row in batch if of == name]:
            add(lake, TABLES[name], *rows, stated=False)


def test_any_split_into_batches_gives_the_rows_of_a_rebuild_and_of_the_truth(
    stack: Path, tmp_path: Path
) -> None:
    records, rng = [*Happening(SEED).records()], Random(SEED)
    want = expected([*chain(*records)])
    assert all(want[table.name] for table in MADE), "each has something to tell"
    records = interleaved(records, rng)
    with own_lake(tmp_path / "bit by bit") as lake:
        for name in NAMES:
            lake.catalog.ensure(TABLES[name].contract)
        while records:
            batch, records = records[: (size := rng.randint(20, 40))], records[size:]
            tell(lake, [*chain(*batch)])
            for table in MADE:
                if rng.random() < 0.7 or not records:
                    advance(lake, table)
        check(want)
        for table in MADE:
            rebuild(lake, table)
        check(want)
