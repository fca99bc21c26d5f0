"""raw.storefront_order_items: what Debezium captured, as it came."""

from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_order_items import storefront_order_items
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(
        lake, storefront_order_items, monkeypatch,
        order_id=1, line=2, unit_price=Decimal("0.01"),
    )  # fmt: skip
