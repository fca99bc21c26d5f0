"""raw.storefront_addresses: what Debezium captured, as it came."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_addresses import storefront_addresses
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(
        lake, storefront_addresses, monkeypatch,
        id=1, customer_id=2, city="Ulm", region=None,
    )  # fmt: skip
