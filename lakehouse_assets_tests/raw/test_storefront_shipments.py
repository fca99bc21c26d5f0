"""raw.storefront_shipments: what Debezium captured, as it came."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_shipments import storefront_shipments
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(lake, storefront_shipments, monkeypatch, id=1, parcels=2, expected_on=20_576)
