"""The database `analytics`, empty, on the PostgreSQL that all tests share; readings in a lake."""

from collections.abc import Iterator

import psycopg
import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.serving.database import DATABASE, migrate_analytics
from lakehouse_assets_tests.serving.sky import Sky


def emptied(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"drop database if exists {DATABASE} with (force)".encode())
        admin.execute(f"create database {DATABASE}".encode())


@pytest.fixture(scope="module")
def migrated(postgres: str, stack: object) -> Iterator[str]:
    """Where it is, with its newest schema."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", postgres)
        emptied(postgres)
        migrate_analytics()
        yield postgres


@pytest.fixture
def unmade(postgres: str, stack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database, without any table."""
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", postgres)
    emptied(postgres)


@pytest.fixture
def sky(lake: Lake, migrated: str) -> Sky:
    """Nothing was read yet, and nothing was brought to PostgreSQL."""
    sky = Sky(lake)
    sky.forget()
    return sky
