"""semantic.storefront_products: one row per product of the shop, as it is there now.

What is sold, at today's price: equal to the shop's own table, row by row, once all of its changes
are here. Which change is the last one the database's log says, no clock. What was deleted is not
here, and no late record brings it back: all changes, which staging keeps, decide together.
Nothing is joined.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import Current, current, touched
from lakehouse_assets.staging.storefront import TABLES


class StorefrontProducts(Current, of="products"):
    layout = Layout(scope=recompute_keys(at="created_at", by=("product_id",)))


def transform(changes: DataFrame) -> DataFrame:
    return current(changes, StorefrontProducts)


storefront_products = table_asset(
    StorefrontProducts,
    transform,
    mentions=touched(StorefrontProducts),
    changes=TABLES["products"],
)
