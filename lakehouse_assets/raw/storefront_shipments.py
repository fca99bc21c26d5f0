"""raw.storefront_shipments: one row per record of Kafka's `storefront.public.shipments`.

Every change of a shipment, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_shipments tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontShipments(ChangeTable):
    row = (
        "id bigint, order_id bigint, carrier string, tracking_number string, parcels int, "
        "expected_on int, shipped_at string, delivered_at string, created_at string, updated_at "
        "string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_shipments = raw_table(
    StorefrontShipments, topic="storefront.public.shipments", group="storefront"
)
