"""marts.fraud_watchlist: one row per customer and day on which a feature of theirs crossed a limit.

Whom to look at, and why. A limit is crossed on a day if one charge of that day crosses it; each
limit that was crossed is a reason. What comes late can put a customer on the list of a past day,
or take them off it.

Charges that name no customer are left out: there is nobody to look at. Sums of money have no limit,
since no one number fits all currencies.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.customer_risk_features import customer_risk_features
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset

LIMITS = {  # a feature crosses its limit where it is as great; in the order of reasons
    "avg_risk_1h": 75,
    "cards_1h": 4,
    "countries_1h": 3,
    "failures_1h": 5,
    "transactions_1h": 10,
}


class FraudWatchlist(Table):
    flagged_on = column("date", "Day of the charges, UTC.", key=True)
    customer_id = column("string", "The payer.", key=True)
    reasons = column("string", "The limits that were crossed, e.g. `cards_1h >= 4`, by name.")
    charges = column("bigint", "Charges of the day.", ge=1)
    flagged_charges = column("bigint", "Those that crossed a limit.", ge=1)
    avg_risk_1h = column("double", "The day's worst.", ge=0, le=100, nullable=True)
    cards_1h = column("bigint", "The day's worst.", ge=0)
    countries_1h = column("bigint", "The day's worst.", ge=0)
    failures_1h = column("bigint", "The day's worst.", ge=0)
    transactions_1h = column("bigint", "The day's worst.", ge=1)

    layout = Layout(scope=recompute_days(at="created_at", on="flagged_on"))


def transform(features: DataFrame) -> DataFrame:
    crossed = [f"{feature} >= {limit}" for feature, limit in LIMITS.items()]
    days = features.where("customer_id is not null").groupBy(
        F.to_date("created_at").alias("flagged_on"), "customer_id"
    ).agg(
        F.count(F.lit(1)).alias("charges"),
        F.expr(f"count_if({' or '.join(crossed)})").alias("flagged_charges"),
        *[F.max(feature).alias(feature) for feature in LIMITS],
    )  # fmt: skip
    reasons = F.concat_ws(", ", *[F.when(F.expr(limit), F.lit(limit)) for limit in crossed])
    flagged = days.where("flagged_charges > 0").withColumn("reasons", reasons)
    return flagged.select(*FraudWatchlist.columns)


fraud_watchlist = table_asset(FraudWatchlist, transform, features=customer_risk_features)
