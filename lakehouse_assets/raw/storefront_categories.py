"""raw.storefront_categories: one row per record of Kafka's `storefront.public.categories`.

Every change of a category, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_categories tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontCategories(ChangeTable):
    row = (
        "id bigint, parent_id bigint, slug string, name string, position int, created_at string, "
        "updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_categories = raw_table(
    StorefrontCategories, topic="storefront.public.categories", group="storefront"
)
