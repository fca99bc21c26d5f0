"""A small shop of a test module's own, and what its tests do there and look for."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.looks import standing
from lakehouse_assets.origin.asset import LOOKS
from lakehouse_assets.origin.looks import looks_of
from lakehouse_assets.services.connect import Connect
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.registry import Registry
from lakehouse_assets.services.service import Service, start_all
from lakehouse_assets.sources.storefront import truth
from lakehouse_assets.sources.storefront.captured import PATIENCE_S
from lakehouse_assets.sources.storefront.database import connect, migrate_shop, writer
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.traffic import utc_now
from lakehouse_assets_tests.support import fresh_topic

CONNECTOR = "postgres-source-storefront"
READ = "select active from pg_replication_slots where slot_name = %s"
OF_CONNECT = ("connect-configs", "connect-offsets", "connect-status")


@contextmanager
def a_shop(sizes: Sizes) -> Iterator[None]:
    """Nobody captures it yet. At the end nothing is left of it, nor in Kafka, whose topics other
    tests' tables are made of.
    """
    services: list[Service] = [Postgres(), Registry(), Connect()]
    try:
        start_all(services)
        migrate_shop()
        with writer() as connection:
            seed_shop(connection, sizes, 7, utc_now())
        yield
    finally:
        for service in reversed(services):
            service.stop()
            shutil.rmtree(service.folder, ignore_errors=True)
        for topic in (*truth.TOPICS, *OF_CONNECT):
            fresh_topic(topic)


def do(statements: str) -> None:
    with connect() as connection:
        connection.execute(statements.encode())


def snapshot_is_over() -> None:
    """The slot is read, which begins after it."""
    deadline, name = time.monotonic() + PATIENCE_S, ["storefront"]
    with connect() as connection:
        while connection.execute(READ, name).fetchone() != (True,):
            assert time.monotonic() < deadline, "nobody reads the slot"
            time.sleep(0.2)


def told_of(lake: Lake, name: str, look: str) -> tuple[bool, str]:
    """Of a table's look: has it passed, and what it says."""
    table = tables()[name]
    every = [*looks_of(table), *standing.looks_of(table), *LOOKS]
    passed, told = standing.found(next(one for one in every if one.name == look), lake, table)
    return passed, str(told)
