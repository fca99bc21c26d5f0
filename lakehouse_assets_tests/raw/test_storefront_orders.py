"""raw.storefront_orders: what Debezium captured, as it came."""

from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.storefront_orders import storefront_orders
from lakehouse_assets_tests.raw.shop import is_captured


def test_a_change_is_one_typed_row(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    is_captured(
        lake, storefront_orders, monkeypatch,
        id=1, status="paid", total=Decimal("7.50"), created_at="2026-05-01T08:00:00.123456Z",
    )  # fmt: skip
