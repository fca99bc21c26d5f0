"""The shop's own tables beside somebody's rows, with a real PostgreSQL."""

import ast
from collections.abc import Iterator
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lakehouse_assets.sources.storefront import truth
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.truth.database import differences, rows
from lakehouse_assets_tests.sources.storefront.shops import NOW

Row = dict[str, Any]


@pytest.fixture
def seeded(shop: psycopg.Connection) -> Iterator[psycopg.Connection]:
    seed_shop(shop, Sizes(customers=30, products=12, orders=40), 7, NOW)
    yield shop


def held(name: str) -> list[Row]:
    """With what the lake has beside, and instants of another zone."""
    zone = timezone(timedelta(hours=2))
    return [row | {"lsn": 1, "created_at": row["created_at"].astimezone(zone)}
            for row in rows(name)]  # fmt: skip


def test_each_table_equals_itself_and_both_sides_are_counted(seeded: psycopg.Connection) -> None:
    for name in NAMES:
        found = differences(name, held(name))
        assert found.is_equal and not found.examples, (name, found)
        assert found.held.rows == found.shop.rows > 0
        assert found.held.content == found.shop.content


def test_uuid_and_json_are_text_as_the_database_prints_it(seeded: psycopg.Connection) -> None:
    ours = {row["customer_id"]: row for row in rows("customers")}
    asked = seeded.execute("select id, public_id::text, preferences::text, country from customers")
    for id, public_id, preferences, country in asked.fetchall():
        assert ours[id]["public_id"] == public_id and ours[id]["country"] == country
        assert ours[id]["preferences"] == preferences


def test_what_is_lacking_doubled_changed_or_made_up_is_told_by_key(
    seeded: psycopg.Connection,
) -> None:
    mine = held("order_items")
    keys = [(row["order_id"], row["line"]) for row in mine]
    mine[2] |= {"quantity": 99}
    odd = [*mine[1:4], mine[3], *mine[4:], mine[-1] | {"order_id": 10**9}]
    found = differences("order_items", odd)
    assert (found.lacking, found.twice, found.unexpected, found.other) == (1, 1, 1, 1)
    assert found.examples == [
        f"lacking {keys[0]}", f"other {keys[2]}", f"twice {keys[3]}",
        f"unexpected {(10**9, mine[-1]['line'])}",
    ]  # fmt: skip
    assert found.held.content != found.shop.content and not found.is_equal


def test_no_more_than_five_examples_are_told_and_a_wrong_order_is_refused(
    seeded: psycopg.Connection,
) -> None:
    found = differences("customers", [])
    assert found.lacking == 30 and len(found.examples) == 5
    with pytest.raises(ValueError, match="in the order of"):
        differences("customers", reversed(held("customers")))


def test_the_truth_asks_nothing_of_the_engine_or_the_layers() -> None:
    for path in Path(str(truth.__file__)).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        froms = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        ours = {name.split(".")[1] for name in froms if name.startswith("lakehouse_assets.")}
        assert ours <= {"sources", "services"}, path.name
