"""The database `analytics`, empty, on the PostgreSQL that all tests share; readings in a lake."""

from collections.abc import Iterator

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.serving.database import DATABASE, migrate_analytics
from lakehouse_assets_tests.serving.sky import Sky
from lakehouse_assets_tests.support import emptied


@pytest.fixture(scope="module")
def migrated(postgres: str, stack: object) -> Iterator[str]:
    """Where it is, with its newest schema."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", postgres)
        emptied(postgres, DATABASE)
        migrate_analytics()
        yield postgres


@pytest.fixture
def unmade(postgres: str, stack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database, without any table."""
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", postgres)
    emptied(postgres, DATABASE)


@pytest.fixture
def sky(lake: Lake, migrated: str) -> Sky:
    """Nothing was read yet, and nothing was brought to PostgreSQL."""
    sky = Sky(lake)
    sky.forget()
    return sky
