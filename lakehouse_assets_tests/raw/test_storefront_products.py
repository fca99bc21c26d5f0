"""raw.storefront_products: what Debezium captured, as it came."""

from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_products import storefront_products
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(
        lake, storefront_products, monkeypatch,
        id=1, price=Decimal("7.50"), tags=["a", None],
    )  # fmt: skip
