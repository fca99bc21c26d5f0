"""raw.storefront_addresses: one row per record of Kafka's `storefront.public.addresses`.

Every change of an address, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_addresses tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontAddresses(ChangeTable):
    row = (
        "id bigint, customer_id bigint, kind string, street string, city string, region string, "
        "postal_code string, country string, created_at string, updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_addresses = raw_table(
    StorefrontAddresses, topic="storefront.public.addresses", group="storefront"
)
