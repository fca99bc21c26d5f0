"""semantic.payments: one row per charge, as its provider last described it.

Staging holds every event of a charge. The last word has the greatest `updated_at`, then the
greatest content, so that every order of arrival ends in the same row. Nothing is enriched,
summed or removed.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import Layout, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_payment_charges import StgPaymentCharges, stg_payment_charges


class Payments(StgPaymentCharges):
    charge_id = column("string", "The provider's id of the charge.", key=True)
    event_id = column("string", "The event that had the last word.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("charge_id", "event_id", "payment_method_id", "order_id"),
    )
    rules = ()
    refuses = False


def transform(events: DataFrame) -> DataFrame:
    return events.select(*[f"`{c}`" for c in Payments.columns])


payments = table_asset(Payments, transform, events=stg_payment_charges)
