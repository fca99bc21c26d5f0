"""A captured table with a topic of its own, in a lake that begins some hours ago."""

from uuid import uuid4

import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.topics.kafka import HOUR
from lakehouse_assets_tests.landing.shop import EARLIER, Orders


@pytest.fixture
def orders(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Orders:
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{EARLIER - HOUR:{settings.HOUR_FORMAT}}")
    return Orders(f"shop.public.{uuid4().hex[:8]}", monkeypatch)
