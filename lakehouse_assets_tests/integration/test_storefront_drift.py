"""The shop's tables change under the capture's eyes: what can be read goes on, and what cannot is
red, by name.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakehouse_assets.bench._lab import catch_up
from lakehouse_assets.commands.compare import rows_of
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.services import connectors
from lakehouse_assets.services.connect import connect_url
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.registry import NATIVE, Registry, registry_url
from lakehouse_assets.services.rest import ask
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.database import connect
from lakehouse_assets.sources.storefront.live import Flow
from lakehouse_assets.sources.storefront.seeding import Sizes
from lakehouse_assets_tests.integration.shop import CONNECTOR, a_shop, do, told_of
from lakehouse_assets_tests.services.capturing import until

SMALL = Sizes(customers=20, products=10, orders=30)
CHANGED = ("orders", "customers", "addresses", "order_items")


@pytest.fixture(scope="module", autouse=True)
def shop(stack: Path) -> Iterator[None]:
    with a_shop(SMALL):
        connectors.register(CONNECTOR)
        wait_until_captured()
        yield


@contextmanager
def traffic(table: str) -> Iterator[None]:
    """Somebody touches the table's rows all the time."""
    is_over = threading.Event()

    def touch() -> None:
        with connect() as connection:
            while not is_over.wait(0.01):
                connection.execute(
                    f"update {table} set updated_at = now() where ctid = "
                    f"(select ctid from {table} order by random() limit 1)".encode()
                )

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        yield
        is_over.wait(0.3)
    finally:
        is_over.set()
        thread.join()


def ours() -> list[LakeTable]:
    names = [f"raw.storefront_{n}" for n in CHANGED]
    names += [f"staging.stg_storefront_{n}" for n in CHANGED]
    names += [f"semantic.storefront_{n}" for n in CHANGED]
    return [tables()[name] for name in names]


def equals(lake: Lake, table: str) -> tuple[bool, str]:
    return told_of(lake, f"semantic.storefront_{table}", "equals_the_database")


def drift(lake: Lake, table: str) -> tuple[bool, str]:
    return told_of(lake, f"raw.storefront_{table}", "agrees_with_the_registry")


def errors(table: str) -> set[str]:
    return {row["_error"] for row in rows_of(f"raw.storefront_{table}") if row["_error"]}


def captured(lake: Lake) -> None:
    wait_until_captured()
    catch_up(lake, ours())


def test_each_change_of_a_table_has_its_outcome_while_rows_change(lake: Lake) -> None:
    captured(lake)
    for table in CHANGED:
        assert drift(lake, table)[0] and equals(lake, table)[0], table
    a_column_more(lake)
    columns_less_and_others(lake)
    no_registry(lake)
    a_type_that_is_refused(lake)


def a_column_more(lake: Lake) -> None:
    flow = threading.Thread(
        target=lambda: Flow(80, 40, 80).run(threading.Event(), lambda done: None)
    )
    flow.start()
    do("alter table orders add column gift boolean not null default true")
    flow.join()
    do("update orders set updated_at = now()")
    captured(lake)
    passed, told = drift(lake, "orders")
    assert not passed and "'unknown': 'before.gift, after.gift'" in told
    assert equals(lake, "orders")[0] and not errors("orders"), "what has a column goes on"


def columns_less_and_others(lake: Lake) -> None:
    with traffic("customers"):
        do("alter table customers drop column born_on")
    with traffic("addresses"):
        do("alter table addresses rename column region to province")
    with traffic("order_items"):
        do("alter table order_items alter column quantity type bigint")
    captured(lake)
    passed, told = drift(lake, "customers")
    assert not passed and "'missing': 'before.born_on, after.born_on'" in told
    passed, told = equals(lake, "customers")
    assert not passed and 'column "born_on" does not exist' in told
    passed, told = drift(lake, "addresses")
    assert not passed and "after.province" in told and "after.region" in told
    assert not equals(lake, "addresses")[0] and not errors("addresses")
    passed, told = drift(lake, "order_items")
    assert not passed and "after.quantity is bigint, not int" in told
    assert any("after.quantity is bigint, not int" in error for error in errors("order_items"))
    passed, told = equals(lake, "order_items")
    assert not passed and "'other content'" in told


def no_registry(lake: Lake) -> None:
    do("update orders set note = 'read without the registry'")
    wait_until_captured()
    Registry().stop()
    for other in (registry_url(""), connect_url()):  # nobody, and somebody who answers 404
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LAKEHOUSE_REGISTRY", other)
            with pytest.raises(ServiceError, match="schema registry does not answer"):
                catch_up(lake, ours())
    Registry().start()
    connectors.restart(CONNECTOR, only_failed=True)  # as the watcher does
    captured(lake)
    assert equals(lake, "orders")[0]


def a_type_that_is_refused(lake: Lake) -> None:
    do("alter table order_items alter column quantity type integer")
    do("update order_items set updated_at = now()")
    do("alter table customers alter is_subscribed drop default, alter is_subscribed type text")
    do("update customers set updated_at = now()")
    until(lambda: connectors.healths()[CONNECTOR].is_failed)
    passed, told = told_of(lake, "raw.storefront_customers", "changes_arrive")
    assert not passed and "ncompatible" in told, told
    accepted = f"{registry_url(NATIVE)}/groups/default/artifacts/storefront.public.customers-value"
    ask(f"{accepted}/rules", "POST", {"ruleType": "COMPATIBILITY", "config": "NONE"})
    connectors.restart(CONNECTOR, only_failed=True)
    captured(lake)
    assert equals(lake, "order_items")[0], "its schema is the first one again"
    assert any("is_subscribed is string, not boolean" in error for error in errors("customers"))
