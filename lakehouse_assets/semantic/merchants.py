"""semantic.merchants: one row per merchant and span of time in which the same was known of it.

So that a charge can be read with what was true of its merchant at its time, and with what is true
now. The key is (merchant_id, valid_from_at). A change that comes late is put where it belongs. A
deletion is a version too, without attributes, so that there is no gap: of a deleted merchant it is
the current one, until it is told of again. The merchants of today are
`is_current and not is_deleted`. Versions that say the same are not made one, and what was known
before a deletion stays. Nothing is joined.

The scope cannot prune: a merchant's versions lie at any time, so each batch reads the keys of all,
which are few beside what they do.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, Rule, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.spans import History, spliced, unbroken
from lakehouse_assets.staging.stg_payment_merchants import stg_payment_merchants


class Merchants(History):
    merchant_id = column("string", "The merchant.", key=True)
    merchant_name = column("string", "As customers know it.", nullable=True)
    category = column("string", "What it sells, lower case.", nullable=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    onboarded_at = column("timestamp", "Since when it is a merchant, UTC.", nullable=True)
    is_deleted = column("boolean", "In this span the merchant was no more.")
    is_dirty = column("boolean", "Whether anything had to be mended.")
    arrived_at = column("timestamp", "When Kafka first received this version, UTC.")

    layout = Layout(scope=recompute_keys(at="", by=("merchant_id",)))
    rules = (
        *History.rules,
        Rule(
            "nothing_of_deleted",
            "not is_deleted or coalesce(merchant_name, category, country) is null",
            "nothing is known of what is no more",
        ),
    )
    across = unbroken("semantic.merchants", "merchant_id")


def transform(merchants: DataFrame) -> DataFrame:
    return spliced(merchants, "merchant_id", at="changed_at").select(
        *[f"`{c}`" for c in Merchants.columns]
    )


merchants = table_asset(Merchants, transform, merchants=stg_payment_merchants)
