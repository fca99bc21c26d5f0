"""semantic.storefront_orders: what is in the shop now."""

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_orders import storefront_orders
from lakehouse_assets_tests.semantic.shop import last_stands


def test_the_last_change_in_the_databases_log_stands(lake: Lake) -> None:
    last_stands(lake, storefront_orders, "status", "pending", "paid")
