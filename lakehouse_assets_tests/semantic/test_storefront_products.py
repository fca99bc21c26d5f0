"""semantic.storefront_products: what is in the shop now."""

from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_products import storefront_products
from lakehouse_assets_tests.semantic.shop import last_stands


def test_the_last_change_in_the_databases_log_stands(lake: Lake) -> None:
    last_stands(lake, storefront_products, "price", Decimal("1.00"), Decimal("2.00"))
