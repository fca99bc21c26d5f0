"""semantic.storefront_product_history: one row per product of the shop and span of sameness.

So that an order can be read with what its products were and cost then. The key is (product_id,
valid_from_at); what is said of semantic.storefront_customer_history about deletions, resets and the
first version is so here, too. Nothing is joined.

The scope cannot prune: a product changes at any time, so each batch reads the keys of all changes.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import recorded, touched
from lakehouse_assets.semantic.spans import History, unbroken
from lakehouse_assets.staging.storefront import TABLES


class StorefrontProductHistory(History):
    product_id = column("bigint", "The shop's number of the product.", key=True)
    category_id = column("bigint", "What it was one of.", nullable=True)
    sku = column("string", "The stock's name of it.", nullable=True)
    product_name = column("string", "What people read.", nullable=True, name="name")
    price = column("decimal(12,2)", "In units of `currency`.", ge=0, nullable=True)
    currency = column("string", "ISO 4217.", nullable=True)
    is_active = column("boolean", "Whether it was on sale.", nullable=True)
    is_deleted = column("boolean", "In this span there was no such product.")
    created_at = column("timestamp", "When it came into the catalogue, UTC.", nullable=True)

    layout = Layout(scope=recompute_keys(by=("product_id",)))
    rules = History.rules
    across = unbroken("semantic.storefront_product_history", "product_id")


def transform(changes: DataFrame) -> DataFrame:
    return recorded(changes, StorefrontProductHistory)


storefront_product_history = table_asset(
    StorefrontProductHistory,
    transform,
    mentions=touched(StorefrontProductHistory),
    changes=TABLES["products"],
)
