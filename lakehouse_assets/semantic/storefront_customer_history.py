"""semantic.storefront_customer_history: one row per customer of the shop and span of sameness.

So that an order can be read with what its customer was then. The key is (customer_id,
valid_from_at). A deletion is a version too, without attributes, so that there is no gap; and so is
being swept away by TRUNCATE, or not being in a new snapshot. The first version is taken to have
been so since the customer was made. Of several changes in one millisecond the last one in the
database's log stands. Nothing is joined.

The scope cannot prune: a customer changes at any time, so each batch reads the keys of all changes.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, Rule, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import recorded, touched
from lakehouse_assets.semantic.spans import History, unbroken
from lakehouse_assets.staging.storefront import TABLES


class StorefrontCustomerHistory(History):
    customer_id = column("bigint", "The shop's number of the customer.", key=True)
    email = column("string", "Where to write to.", nullable=True, pii=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    segment = column("string", "new, regular, loyal or vip.", nullable=True)
    is_subscribed = column("boolean", "Whether the newsletter was wanted.", nullable=True)
    is_deleted = column("boolean", "In this span they were no customer.")
    created_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)

    layout = Layout(scope=recompute_keys(by=("customer_id",)))
    rules = (
        *History.rules,
        Rule("nothing_of_deleted", "not is_deleted or coalesce(email, country, segment) is null",
             "nothing is known of who is no more"),
    )  # fmt: skip
    across = unbroken("semantic.storefront_customer_history", "customer_id")


def transform(changes: DataFrame) -> DataFrame:
    return recorded(changes, StorefrontCustomerHistory)


storefront_customer_history = table_asset(
    StorefrontCustomerHistory,
    transform,
    mentions=touched(StorefrontCustomerHistory),
    changes=TABLES["customers"],
)
