"""The shop's schema in a database of its own, on the PostgreSQL that all tests share."""

from collections.abc import Iterator

import psycopg
import pytest

from lakehouse_assets.sources.storefront.database import migrate_shop, writer
from lakehouse_assets_tests.sources.storefront.shops import empty_out, shop_lake


@pytest.fixture(scope="module")
def migrated(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The environment of a lake whose shop has no row."""
    with shop_lake(postgres, tmp_path_factory.mktemp("shop") / "a lake"):
        migrate_shop()
        yield


@pytest.fixture
def shop(migrated: None) -> Iterator[psycopg.Connection]:
    """An empty shop, and who alone writes to it."""
    with writer() as connection:
        empty_out(connection)
        yield connection
