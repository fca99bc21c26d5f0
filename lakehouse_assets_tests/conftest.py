"""One warm Kafka and one warm Spark for the whole run; every test gets an empty lake of its own on
them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.postgres import Postgres, dsn
from lakehouse_assets.services.service import start_all
from lakehouse_assets.services.spark import Spark
from lakehouse_assets_tests.support import lake_in


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with lake_in(tmp_path_factory.mktemp("stack") / "a lake") as folder:
        services = [Kafka(), Spark()]
        try:
            start_all(services)
            yield folder
        finally:
            for service in services:
                service.stop()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where one listens, for LAKEHOUSE_POSTGRES of a lake of the test's own."""
    folder = tmp_path_factory.mktemp("postgres") / "a lake"
    with lake_in(folder):
        Postgres().start()
        place = dsn("postgres")
    try:
        yield place
    finally:
        with lake_in(folder):
            Postgres().stop()


@pytest.fixture
def empty_lake(stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of a lake with no table, on the shared services."""
    folder = tmp_path / "a lake"
    folder.mkdir()
    monkeypatch.setenv("LAKEHOUSE_CATALOG_URI", f"sqlite:///{folder / 'catalog.db'}")
    monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", str(folder / "warehouse"))
    return folder


@pytest.fixture
def lake(empty_lake: Path) -> Iterator[Lake]:
    lake = Lake(run="test")
    lake.compile(False)  # a test has few rows
    yield lake
    lake.close()
