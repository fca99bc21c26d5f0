"""A web shop in a lab: seeded, captured, and with a witness of all that is committed then."""

import time

from lakehouse_assets.bench._lab import Lab, doing, say
from lakehouse_assets.bench._marts import beside_database
from lakehouse_assets.commands import common, glance
from lakehouse_assets.commands.compare import against_shop
from lakehouse_assets.services.capture import Capture
from lakehouse_assets.services.connect import Connect
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.registry import Registry
from lakehouse_assets.services.service import Service
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.database import migrate_shop, writer
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.traffic import utc_now
from lakehouse_assets.sources.storefront.truth import logged

SNAPSHOT_S = 3_600  # for the first snapshot to be in Kafka
PATIENCE_S = 1_800  # for all that is in Kafka to be in the tables
POLL_S = 2.0


def services() -> list[Service]:
    """Those that start first, side by side."""
    return [Kafka(), Spark(), Postgres(), Registry()]


def seed(sizes: Sizes, seed: int) -> None:
    migrate_shop()
    with doing(f"seeding a shop of {sizes.orders:,} orders"), writer() as connection:
        seed_shop(connection, sizes, seed, utc_now())


def capture(place: Lab) -> None:
    """When it returns the first snapshot is in Kafka; what comes then has a witness."""
    logged.begin()
    start(place, Connect(), Capture())
    with doing("waiting for the first snapshot"):
        wait_until_captured(SNAPSHOT_S)


def start(place: Lab, *more: Service) -> None:
    """One after the other; they end with the lab."""
    for service in more:
        place.services.append(service)
        with doing(f"starting {service.name}"):
            service.start()


def pids(place: Lab) -> dict[str, int]:
    return {service.name: place.pid(service.name) for service in place.services}


def arrived(layer: str = "") -> bool:
    """Once the shop's tables (of that layer alone, if one is named) have all that Kafka holds;
    False: it takes too long.
    """
    ours = {name: table for name, table in common.tables().items() if table.group == "storefront"}
    wanted = {name for name, table in ours.items() if not layer or table.layer == layer}
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = glance.glances()
        if wanted <= found.keys() and not any(_is_behind(found[name]) for name in wanted):
            return True
        time.sleep(POLL_S)
    return False


def _is_behind(table: glance.Glance) -> bool:
    """Also if nobody can say."""
    return bool(table.lag or table.behind or (table.lag is None and table.behind is None))


def compared() -> dict[str, int]:
    """Every row of what is there now, beside the database's, and the marts beside what that comes
    to.
    """
    tables, marts = against_shop(), list(beside_database())
    for one in [one for one in (*tables, *marts) if not one.is_equal]:
        say(f"{one.table} differs: {', '.join(one.examples)}")
    return {
        "wrong": sum(one.lost + one.duplicated + one.wrong for one in (*tables, *marts)),
        "rows": sum(one.rows for one in tables),
        "mart_rows": sum(one.rows for one in marts),
    }
