"""raw.storefront_customers: one row per record of Kafka's `storefront.public.customers`.

Every change of a customer, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_customers tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontCustomers(ChangeTable):
    row = (
        "id bigint, public_id string, email string, first_name string, last_name string, phone "
        "string, born_on int, country string, segment string, is_subscribed boolean, preferences "
        "string, created_at string, updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_customers = raw_table(
    StorefrontCustomers, topic="storefront.public.customers", group="storefront"
)
