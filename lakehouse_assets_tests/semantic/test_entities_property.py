"""Promise 3 on entities with the shop among their sources: any split of what happens into batches
gives the people that one batch gives, that a rebuild gives, and that the truth tells.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lakehouse_assets.analytics.storefront_customer_metrics import storefront_customer_metrics
from lakehouse_assets.commands.compare import compare, first_records, rows_of
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.sources.storefront.truth import lives, shape
from lakehouse_assets.sources.webhooks import truth
from lakehouse_assets.staging.storefront import TABLES
from lakehouse_assets_tests.lake.tables import Row, add, own_lake
from lakehouse_assets_tests.semantic.people import STRIPE, known
from lakehouse_assets_tests.semantic.shop import at, change

CUSTOMERS, ORDERS = TABLES["customers"], TABLES["orders"]
MADE: tuple[LakeTable, ...] = tuple(tables()[name] for name in (
    "semantic.storefront_people", "semantic.storefront_customers", "semantic.storefront_orders",
    "semantic.entity_index", "semantic.blocking_index", "analytics.customer_metrics",
    storefront_customer_metrics.name, "marts.customer_360",
))  # fmt: skip
COMPARED = ("semantic.storefront_people", *truth.ENTITIES)
EVENTS, PEOPLE = 40, 6
PHONES = (None, "0151 1000000", "+49 151 1000001", "0151 1000002")
STATUS = ("paid", "cancelled", "refunded", "delivered")

Event = tuple[LakeTable, Row]


def happens(seed: int) -> list[Event]:
    """In the shop's log and at Stripe, in the order of the log; few mailboxes and numbers, so that
    people join and part.
    """
    rng, found = Random(seed), list[Event]()
    for lsn in range(1, EVENTS):
        draw, number = rng.random(), rng.randrange(PEOPLE)
        if draw < 0.55:
            found.append((CUSTOMERS, _customer(rng, "d" if draw < 0.12 else "u", lsn, number)))
        elif draw < 0.80:
            found.append((ORDERS, change(
                "d" if draw < 0.58 else "u", lsn, order_id=rng.randrange(8), customer_id=number,
                status=rng.choice(STATUS), currency=rng.choice(("EUR", "SEK")),
                total=Decimal(rng.randrange(99)), updated_at=at(lsn),
            )))  # fmt: skip
        elif draw < 0.95:
            spelled = known(f"c{lsn}", _mail(rng), rng.choice(PHONES), country="DE")
            found.append((STRIPE, {"customer_id": spelled.pop("_number")} | spelled))
        else:  # TRUNCATE, or a new snapshot of two customers
            op, count = ("s", 2) if draw > 0.97 else ("t", 0)
            found.append((CUSTOMERS, change(op, lsn, customer_id=None)))
            again = rng.sample(range(PEOPLE), k=count)
            found += [(CUSTOMERS, _customer(rng, "r", lsn, one)) for one in again]
    return found


def _customer(rng: Random, op: str, lsn: int, number: int) -> Row:
    return change(
        op, lsn, customer_id=number, email=_mail(rng), phone=rng.choice(PHONES), country="DE",
        first_name="F", last_name=f"L{number}", segment=rng.choice(("new", "vip")),
        updated_at=at(lsn),
    )  # fmt: skip


def _mail(rng: Random) -> str:
    return rng.choice(("{}@x.org", "{}+s@x.org", " {}@X.org")).format(f"m{rng.randrange(5)}")


def tell(lake: Lake, batch: list[Event]) -> None:
    for table in (CUSTOMERS, ORDERS, STRIPE):
        if rows := [row for of, row in batch if of is table]:
            add(lake, table, *rows, stated=False)


def told() -> dict[str, list[Row]]:
    """The tables, their entities called as the truth calls them."""
    firsts = first_records(rows_of("semantic.entity_index"))
    return {
        name: [{n: firsts[v] if n == "entity_id" else v for n, v in row.items() if n[0] != "_"}
               for row in rows_of(name)]
        for name in COMPARED
    }  # fmt: skip


def expected(events: list[Event]) -> dict[str, list[Row]]:
    """By the truths of the shop and of webhooks; Stripe's staging is as it was given."""
    nothing = {"order_in_transaction": None}
    staged = {t: [row | nothing for of, row in events if of is t] for t in (CUSTOMERS, ORDERS)}
    given: dict[str, list[Row]] = {name: [] for name in (*truth.STAGING, *truth.GIVEN)}
    given["staging.stg_stripe_customers"] = [
        {"full_name": None, "currency": None, **row} for of, row in events if of is STRIPE
    ]
    given["semantic.storefront_people"] = lives.people(staged[CUSTOMERS])
    for name, table in (("customers", CUSTOMERS), ("orders", ORDERS)):
        rows = [_whole(table, row) for row in staged[table]]
        given[f"semantic.storefront_{name}"] = lives.current(shape.TABLES[name], rows)
    for part in truth.BEYOND:
        given |= part.tables(given)
    return {name: given[name] for name in COMPARED}


def _whole(table: LakeTable, row: Row) -> Row:
    return dict.fromkeys(table.contract.columns) | {"order_in_transaction": None} | row


def check(want: dict[str, list[Row]], have: dict[str, list[Row]]) -> None:
    keys = truth.KEYS | lives.KEYS
    for name in COMPARED:
        found = compare(name, keys[name], have[name], want[name])
        assert found.is_equal, (name, found.examples)


@contextmanager
def empty(stack: Path, folder: Path) -> Iterator[Lake]:
    with own_lake(folder) as lake:
        for table in (CUSTOMERS, ORDERS, STRIPE):
            lake.catalog.ensure(table.contract)
        yield lake


@pytest.mark.parametrize("seed", [6])  # each takes some 40 batches; any other will do
def test_any_split_into_batches_gives_the_people_of_one_batch_of_a_rebuild_and_of_the_truth(
    stack: Path, tmp_path: Path, seed: int
) -> None:
    events, rng = happens(seed), Random(seed)
    want = expected(events)
    entities = want["semantic.entity_index"]
    assert len({row["entity_id"] for row in entities}) < len(entities), "some are one"
    assert any(row["is_deleted"] for row in want["semantic.storefront_people"])
    with empty(stack, tmp_path / "at once") as lake:
        tell(lake, events)
        for table in MADE:
            advance(lake, table)
        check(want, told())
    late: list[Any] = sorted(events, key=lambda _: rng.random())
    with empty(stack, tmp_path / "bit by bit") as lake:
        while late:
            batch, late = late[: (size := rng.randint(8, 20))], late[size:]
            tell(lake, batch)
            for table in MADE:
                if rng.random() < 0.7 or not late:
                    advance(lake, table)
        check(want, told())
        for table in MADE:
            rebuild(lake, table)
        check(want, told())


def test_without_the_shop_all_is_as_if_there_were_none(stack: Path, tmp_path: Path) -> None:
    events = [one for one in happens(3) if one[0] is STRIPE]
    with own_lake(tmp_path / "alone") as lake:
        tell(lake, events)
        for table in MADE[3:]:
            advance(lake, table)
        want = expected(events)
        found = {name: told_of for name, told_of in want.items() if told_of}
        assert {"semantic.entity_index", "marts.customer_360"} <= found.keys()
        check(want, told())
        assert not lake.catalog.exists("semantic.storefront_people")
        assert {row["storefront_orders"] for row in rows_of("marts.customer_360")} == {0}
