"""analytics.payer_days: one row per day and mailbox that paid, or tried to.

What the payments system knows of people whom other systems know by their e-mail. By days, so that a
charge touches its day alone; who wants all of a mailbox adds its days up. Amounts of different
currencies are never added, so they are not here.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.contact import mailbox
from lakehouse_assets.semantic.payments import payments as semantic_payments


class PayerDays(Table):
    charged_on = column("date", "Day on which the charges were made, UTC.", key=True)
    email_normalized = column("string", "The mailbox given at checkout.", key=True, pii=True)
    charges = column("bigint", "Charges.", ge=1)
    succeeded = column("bigint", "Those that went through.", ge=0)
    failed = column("bigint", "Those that did not.", ge=0)
    max_risk_score = column("int", "The greatest of them, 0 to 100.", nullable=True)
    last_charge_at = column("timestamp", "The last of them, UTC.")

    layout = Layout(
        scope=recompute_days(at="created_at", on="charged_on"), unique_text=("email_normalized",)
    )


def transform(payments: DataFrame) -> DataFrame:
    known = payments.withColumn("email_normalized", mailbox("user_email"))
    return known.where("email_normalized is not null").groupBy(
        F.to_date("created_at").alias("charged_on"), "email_normalized"
    ).agg(
        F.count(F.lit(1)).alias("charges"),
        F.expr("count_if(status = 'succeeded')").alias("succeeded"),
        F.expr("count_if(status = 'failed')").alias("failed"),
        F.max("risk_score").alias("max_risk_score"),
        F.max("created_at").alias("last_charge_at"),
    )


payer_days = table_asset(PayerDays, transform, payments=semantic_payments)
