"""semantic.storefront_people: one row per customer of the shop that there is, or ever was.

What tells who they are, as it was last known, for those who look for the same people elsewhere. Who
was deleted, swept away by TRUNCATE or is not in a new snapshot stays here, with id and times alone:
no row ever goes, so that whoever reads the news hears of that, too. Nobody is taken for somebody
else here, and nothing is joined.

The scope cannot prune: a customer changes at any time, so each batch reads the keys of all changes.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.shop import last_known, touched
from lakehouse_assets.staging.storefront import TABLES

KNOWN = ("email", "phone", "first_name", "last_name", "country")  # of who is there


class StorefrontPeople(Table):
    customer_id = column("bigint", "The shop's number of the customer.", key=True)
    email = column("string", "As it was typed.", nullable=True, pii=True)
    phone = column("string", "As it was typed.", nullable=True, pii=True)
    first_name = column("string", "Given name.", nullable=True, pii=True)
    last_name = column("string", "Family name.", nullable=True, pii=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    created_at = column("timestamp", "Since when they are a customer, UTC.", nullable=True)
    updated_at = column("timestamp", "When the shop last changed the row, UTC.", nullable=True)
    is_deleted = column("boolean", "They are no more.")

    layout = Layout(scope=recompute_keys(by=("customer_id",)))


def transform(changes: DataFrame) -> DataFrame:
    told = last_known(changes, StorefrontPeople)
    known = [F.when(~F.col("is_deleted"), F.col(name)).alias(name) for name in KNOWN]
    return told.select("customer_id", *known, "created_at", "updated_at", "is_deleted")


storefront_people = table_asset(
    StorefrontPeople,
    transform,
    mentions=touched(StorefrontPeople),
    changes=TABLES["customers"],
)
