"""semantic.storefront_categories: one row per category of the shop, as it is there now.

What the catalogue is made of: equal to the shop's own table, row by row, once all of its changes
are here. Which change is the last one the database's log says, no clock. What was deleted is not
here, and no late record brings it back: all changes, which staging keeps, decide together.
Nothing is joined.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import Current, current, touched
from lakehouse_assets.staging.storefront import TABLES


class StorefrontCategories(Current, of="categories"):
    layout = Layout(scope=recompute_keys(at="created_at", by=("category_id",)))


def transform(changes: DataFrame) -> DataFrame:
    return current(changes, StorefrontCategories)


storefront_categories = table_asset(
    StorefrontCategories,
    transform,
    mentions=touched(StorefrontCategories),
    changes=TABLES["categories"],
)
