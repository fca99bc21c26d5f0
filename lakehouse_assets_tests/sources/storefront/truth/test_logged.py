"""What a real PostgreSQL's log tells of the shop."""

import time
from collections.abc import Iterator

import psycopg
import pytest

from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.truth import logged
from lakehouse_assets_tests.sources.storefront.shops import NOW


@pytest.fixture
def witnessed(shop: psycopg.Connection) -> Iterator[psycopg.Connection]:
    seed_shop(shop, Sizes(customers=5, products=5, orders=5), 7, NOW)
    logged.begin()
    yield shop
    shop.execute("select pg_drop_replication_slot(%s)", [logged.SLOT])


def told() -> list[tuple[str, str, logged.Key]]:
    return [(one.table, one.op, one.key) for one in logged.more()]


def test_each_committed_change_is_told_once_by_its_key(witnessed: psycopg.Connection) -> None:
    assert told() == []
    witnessed.execute("update customers set phone = null where id in (1, 2)")
    with witnessed.transaction():
        witnessed.execute("delete from payments where id = (select min(id) from payments)")
        witnessed.execute("update orders set note = repeat('é', 5000) where id = 3")
    with witnessed.transaction(force_rollback=True):
        witnessed.execute("update customers set phone = '1' where id = 3")
    assert told() == [
        ("customers", "u", (1,)), ("customers", "u", (2,)), ("payments", "d", (1,)),
        ("orders", "u", (3,)),
    ]  # fmt: skip
    assert told() == []


def test_a_key_that_moves_is_a_row_that_went_and_one_that_came(
    witnessed: psycopg.Connection,
) -> None:
    witnessed.execute("update order_items set line = line + 10 where order_id = 1 and line = 1")
    assert told() == [("order_items", "d", (1, 1)), ("order_items", "c", (1, 11))]


def test_it_tells_when_a_change_was_committed_and_in_which_order(
    witnessed: psycopg.Connection,
) -> None:
    began = time.time()
    with witnessed.transaction():
        witnessed.execute("update customers set phone = null where id = 1")
        time.sleep(0.5)
    witnessed.execute("update customers set phone = '2' where id = 1")
    first, second = logged.more()
    assert began + 0.5 < first.committed_at <= second.committed_at < time.time()
    assert first.lsn < second.lsn
