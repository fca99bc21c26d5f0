"""semantic.customers: one row per customer and span of time in which the same was known of them.

So that a charge can be read with what was true of its customer at its time, and with what is true
now. The key is (customer_id, valid_from_at). A change that comes late is put where it belongs. A
deletion is a version too, without attributes, so that there is no gap: of a deleted customer it is
the current one, until they are told of again. The customers of today are
`is_current and not is_deleted`. Versions that say the same are not made one, and what was known
before a deletion stays. Nothing is joined.

The scope cannot prune: a customer's versions lie at any time, so each batch reads the keys of all,
which are few beside what they do.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, Rule, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.spans import History, spliced, unbroken
from lakehouse_assets.staging.stg_payment_customers import stg_payment_customers


class Customers(History):
    customer_id = column("string", "The customer.", key=True)
    customer_name = column("string", "Full name.", nullable=True, pii=True)
    email = column("string", "Where to write to.", nullable=True, pii=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    segment = column("string", "consumer, small_business, …", nullable=True)
    signed_up_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)
    is_deleted = column("boolean", "In this span the customer was no more.")
    is_dirty = column("boolean", "Whether anything had to be mended.")
    arrived_at = column("timestamp", "When Kafka first received this version, UTC.")

    layout = Layout(scope=recompute_keys(at="", by=("customer_id",)))
    rules = (
        *History.rules,
        Rule(
            "nothing_of_deleted",
            "not is_deleted or coalesce(customer_name, email, country, segment) is null",
            "nothing is known of who is no more",
        ),
    )
    across = unbroken("semantic.customers", "customer_id")


def transform(customers: DataFrame) -> DataFrame:
    return spliced(customers, "customer_id", at="changed_at").select(
        *[f"`{c}`" for c in Customers.columns]
    )


customers = table_asset(Customers, transform, customers=stg_payment_customers)
