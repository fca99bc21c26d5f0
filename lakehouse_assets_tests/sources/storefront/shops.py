"""What the tests of the shop share: a database of their own, its rows, and what always holds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lakehouse_assets.sources.storefront.database import DATABASE
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets_tests.support import lake_in

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=timezone.utc)

WRONG = {  # what must find nothing
    "a total is what the lines cost, less the discount": "select id from orders where total"
    " is distinct from (select sum(quantity * unit_price) from order_items where order_id ="
    " orders.id) - discount",
    "lines are numbered without gaps": "select order_id from order_items group by order_id having"
    " min(line) <> 1 or max(line) <> count(*)",
    "who was paid is paid once, and the whole": "select id from orders where status in ('paid',"
    " 'shipped', 'delivered') and (select array_agg(amount) from payments where status = 'captured'"
    " and order_id = orders.id) is distinct from array[total]",
    "nobody else has a payment": "select id from orders where status not in ('paid', 'shipped',"
    " 'delivered') and exists (select from payments where order_id = orders.id and status in"
    " ('captured', 'authorized'))",
    "what goes out was paid": "select order_id from shipments join orders on orders.id = order_id"
    " where status in ('pending', 'paid')",
    "what was shipped has a shipment": "select id from orders where status in ('shipped',"
    " 'delivered', 'refunded') and not exists (select from shipments where order_id = orders.id)",
    "what was delivered says when": "select order_id from shipments join orders on orders.id ="
    " order_id where (status in ('delivered', 'refunded')) <> (delivered_at is not null)",
    "an order goes to an address of its customer": "select o.id from orders o join addresses a on"
    " a.id = shipping_address_id where a.customer_id <> o.customer_id",
    "nobody ordered before joining": "select o.id from orders o join customers c on"
    " c.id = customer_id where o.created_at < c.created_at",
}


@contextmanager
def shop_lake(postgres: str, folder: Path) -> Iterator[None]:
    """The environment of a lake with an empty database for the shop."""
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"drop database if exists {DATABASE} with (force)".encode())
        admin.execute(f"create database {DATABASE}".encode())
    with lake_in(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", postgres)
        yield


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a second whenever it is looked at."""
    seconds = 0

    def now() -> datetime:
        nonlocal seconds
        seconds += 1
        return NOW + timedelta(seconds=seconds)

    return now


def empty_out(connection: psycopg.Connection) -> None:
    """As after the first migration."""
    connection.execute(f"truncate {', '.join(NAMES)} restart identity".encode())
    connection.execute("alter sequence runs restart")


def everything(connection: psycopg.Connection) -> dict[str, list[Any]]:
    return {
        name: connection.execute(f"select * from {name} order by 1, 2".encode()).fetchall()
        for name in NAMES
    }


def counted(connection: psycopg.Connection, statement: str) -> int:
    found = connection.execute(f"select count(*) from ({statement}) as found".encode()).fetchone()
    assert found
    return int(found[0])


def assert_sound(connection: psycopg.Connection) -> None:
    found = {rule: counted(connection, statement) for rule, statement in WRONG.items()}
    assert not any(found.values()), {rule: count for rule, count in found.items() if count}
