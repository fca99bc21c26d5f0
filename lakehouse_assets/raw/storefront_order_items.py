"""raw.storefront_order_items: one row per record of Kafka's `storefront.public.order_items`.

Every change of a line of an order, as Debezium captured it from the shop's Postgres: the row
before and after it, and where it stands in the database's log. Nothing is cast or cleaned; what
the row is now, semantic.storefront_order_items tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontOrderItems(ChangeTable):
    row = (
        "order_id bigint, line int, product_id bigint, quantity int, unit_price decimal(12,2), "
        "created_at string, updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_order_items = raw_table(
    StorefrontOrderItems, topic="storefront.public.order_items", group="storefront"
)
