"""semantic.storefront_addresses: one row per address of the shop, as it is there now.

Where goods and bills go: equal to the shop's own table, row by row, once all of its changes are
here. Which change is the last one the database's log says, no clock. What was deleted is not
here, and no late record brings it back: all changes, which staging keeps, decide together.
Nothing is joined.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import Current, current, touched
from lakehouse_assets.staging.storefront import TABLES


class StorefrontAddresses(Current, of="addresses"):
    layout = Layout(scope=recompute_keys(at="created_at", by=("address_id",)))


def transform(changes: DataFrame) -> DataFrame:
    return current(changes, StorefrontAddresses)


storefront_addresses = table_asset(
    StorefrontAddresses,
    transform,
    mentions=touched(StorefrontAddresses),
    changes=TABLES["addresses"],
)
