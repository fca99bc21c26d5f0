"""raw.storefront_orders: one row per record of Kafka's `storefront.public.orders`.

Every change of an order, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_orders tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontOrders(ChangeTable):
    row = (
        "id bigint, public_id string, customer_id bigint, shipping_address_id bigint, status "
        "string, discount decimal(12,2), total decimal(12,2), currency string, note string, "
        "created_at string, updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_orders = raw_table(
    StorefrontOrders, topic="storefront.public.orders", group="storefront"
)
