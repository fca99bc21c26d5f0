"""semantic.storefront_orders: one row per order of the shop, as it is there now.

What was ordered and how far it is: equal to the shop's own table, row by row, once all of its
changes are here. Which change is the last one the database's log says, no clock. What was deleted
is not here, and no late record brings it back: all changes, which staging keeps, decide together.
Nothing is joined.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import Current, current, touched
from lakehouse_assets.staging.storefront import TABLES


class StorefrontOrders(Current, of="orders"):
    layout = Layout(
        partitioned_by="months(created_at)",
        scope=recompute_keys(at="created_at", by=("order_id",)),
    )


def transform(changes: DataFrame) -> DataFrame:
    return current(changes, StorefrontOrders)


storefront_orders = table_asset(
    StorefrontOrders,
    transform,
    mentions=touched(StorefrontOrders),
    changes=TABLES["orders"],
)
