"""semantic.storefront_order_items: one row per line of an order of the shop, as it is there now.

What each order is made of: equal to the shop's own table, row by row, once all of its changes are
here. Which change is the last one the database's log says, no clock. What was deleted is not
here, and no late record brings it back: all changes, which staging keeps, decide together.
Nothing is joined.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import Current, current, touched
from lakehouse_assets.staging.storefront import TABLES


class StorefrontOrderItems(Current, of="order_items"):
    layout = Layout(
        partitioned_by="months(created_at)",
        scope=recompute_keys(at="created_at", by=("order_id", "line")),
    )


def transform(changes: DataFrame) -> DataFrame:
    return current(changes, StorefrontOrderItems)


storefront_order_items = table_asset(
    StorefrontOrderItems,
    transform,
    mentions=touched(StorefrontOrderItems),
    changes=TABLES["order_items"],
)
