"""raw.storefront_categories: what Debezium captured, as it came."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_categories import storefront_categories
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(lake, storefront_categories, monkeypatch, id=1, parent_id=None, position=3)
