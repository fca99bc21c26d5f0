"""raw.storefront_customers: what Debezium captured, as it came."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_customers import storefront_customers
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(
        lake, storefront_customers, monkeypatch,
        id=1, email="ada@example.org", preferences='{"a": null}', born_on=7,
    )  # fmt: skip
