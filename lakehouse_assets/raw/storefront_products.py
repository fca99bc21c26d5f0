"""raw.storefront_products: one row per record of Kafka's `storefront.public.products`.

Every change of a product, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_products tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontProducts(ChangeTable):
    row = (
        "id bigint, category_id bigint, sku string, name string, description string, price "
        "decimal(12,2), currency string, tags array<string>, attributes string, weight_grams int, "
        "is_active boolean, released_on int, created_at string, updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_products = raw_table(
    StorefrontProducts, topic="storefront.public.products", group="storefront"
)
