"""Lakes made for one test or one module: a folder and ports of their own, the project's jars."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from lakehouse_assets import settings
from lakehouse_assets_tests.support import lake_in


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Path]:
    with lake_in(tmp_path / "a lake") as folder:
        yield folder


@pytest.fixture(scope="module")
def module_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with lake_in(tmp_path_factory.mktemp("lake") / "a lake") as folder:
        yield folder


@pytest.fixture(scope="session")
def listens_on() -> Callable[[int], set[str]]:
    """The addresses on which a process and its helpers listen."""

    def addresses(pid: int) -> set[str]:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        sockets = [c for p in family for c in p.net_connections() if c.status == "LISTEN"]
        assert sockets, f"pid {pid} does not listen at all"
        return {c.laddr.ip.removeprefix("::ffff:") for c in sockets}

    return addresses


@pytest.fixture(scope="session")
def subprocess_env() -> Callable[[], dict[str, str]]:
    return lambda: dict(os.environ, PYTHONPATH=str(settings.ROOT))
