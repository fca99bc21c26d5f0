"""raw.storefront_payments: one row per record of Kafka's `storefront.public.payments`.

Every change of a payment, as Debezium captured it from the shop's Postgres: the row before and
after it, and where it stands in the database's log. Nothing is cast or cleaned; what the row is
now, semantic.storefront_payments tells.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class StorefrontPayments(ChangeTable):
    row = (
        "id bigint, order_id bigint, reference string, method string, status string, amount "
        "decimal(12,2), currency string, details string, captured_at string, created_at string, "
        "updated_at string"
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_payments = raw_table(
    StorefrontPayments, topic="storefront.public.payments", group="storefront"
)
