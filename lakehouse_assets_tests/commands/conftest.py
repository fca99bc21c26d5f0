"""A registry, and topics that a test may fill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.services.registry import Registry
from lakehouse_assets_tests.commands.looking import CHARGES, ORDERS, made
from lakehouse_assets_tests.support import fresh_topic


@pytest.fixture(scope="module")
def registry(stack: Path) -> Iterator[None]:
    registry = Registry()
    try:
        registry.start()
        yield
    finally:
        registry.stop()


@pytest.fixture
def topic(stack: Path) -> Iterator[str]:
    """One that no table reads."""
    yield made("looked.at")
    fresh_topic("looked.at")


@pytest.fixture
def charges(stack: Path) -> Iterator[str]:
    yield made(CHARGES)
    fresh_topic(CHARGES)


@pytest.fixture
def orders(stack: Path) -> Iterator[str]:
    yield made(ORDERS)
    fresh_topic(ORDERS)
