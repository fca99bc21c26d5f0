"""semantic.storefront_customers: what is in the shop now."""

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_customers import storefront_customers
from lakehouse_assets_tests.semantic.shop import last_stands


def test_the_last_change_in_the_databases_log_stands(lake: Lake) -> None:
    last_stands(lake, storefront_customers, "segment", "new", "loyal")
