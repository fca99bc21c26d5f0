"""analytics.provider_performance_hourly: one row per hour and provider that had charges in it.

What a payments team watches a provider by: how many charges it authorizes, why it declines the
others, how long it takes. A charge counts in the hour in which it was made, as it was last
described: a pending one counts as pending, in no rate and no decision time, until it is decided;
then its day is computed again. One whose status nobody knows is a charge, and nothing more. Times
are of the last event, in whole milliseconds, and negative where a provider's clock is wrong.
Nothing is said of hours without charges, and no amounts are added.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.payments import payments as semantic_payments
from lakehouse_assets.sources.payments.providers import FAILURES, PROVIDERS

CATEGORIES = tuple(FAILURES[PROVIDERS[0]])  # the same for all providers


class ProviderPerformanceHourly(Table):
    started_at = column("timestamp", "Begin of the hour in which the charges were made.", key=True)
    provider = column("string", "STRIPE, BRAINTREE or ADYEN.", key=True, isin=PROVIDERS)
    created_on = column("date", "The hour's day, UTC.")
    charges = column("bigint", "Charges, whatever became of them.")
    succeeded = column("bigint", "Those that took the money.")
    failed = column("bigint", "Those that did not.")
    pending = column("bigint", "Those that are not decided.")
    status_unknown = column("bigint", "Those whose status nobody knows.")
    authorization_rate = column(
        "double", "Succeeded by all decided; NULL: none is.", ge=0, le=1, nullable=True
    )
    failed_declined = column("bigint", "Failed: declined without a closer reason.")
    failed_insufficient_funds = column("bigint", "Failed: not enough money.")
    failed_expired_card = column("bigint", "Failed: the card had expired.")
    failed_wrong_details = column("bigint", "Failed: wrong number, code or date.")
    failed_suspected_fraud = column("bigint", "Failed: stolen, or believed so.")
    failed_processing_error = column("bigint", "Failed: the provider's or bank's fault.")
    failed_unknown = column("bigint", "Failed: no reason, or one that nobody knows.")
    decision_p50_ms = column(
        "bigint", "Median time from a decided charge's making to its last event.", nullable=True
    )
    decision_p95_ms = column("bigint", "The same, which 95 % do not exceed.", nullable=True)
    delivery_p50_ms = column("bigint", "Median time from a last event to Kafka.")
    delivery_p95_ms = column("bigint", "The same, which 95 % do not exceed.")

    layout = Layout(scope=recompute_days(at="created_at", on="created_on"))
    rules = (
        Rule("charges_add_up", "succeeded + failed + pending + status_unknown = charges"),
        Rule(
            "failures_add_up",
            f"{' + '.join(f'failed_{c}' for c in (*CATEGORIES, 'unknown'))} = failed",
        ),
    )


def transform(payments: DataFrame) -> DataFrame:
    timed = payments.withColumns({
        "started_at": F.date_trunc("hour", "created_at"),
        "decision_ms": F.expr("if(status in ('succeeded', 'failed'), "
                              "unix_millis(updated_at) - unix_millis(created_at), null)"),
        "delivery_ms": F.expr("unix_millis(arrived_at) - unix_millis(updated_at)"),
    })  # fmt: skip
    failed = "count_if(status = 'failed' and failure_category"
    hours = timed.groupBy("started_at", "provider").agg(
        F.count(F.lit(1)).alias("charges"),
        *[F.expr(f"count_if(status = '{s}')").alias(s) for s in ("succeeded", "failed", "pending")],
        F.expr("count_if(status is null)").alias("status_unknown"),
        *[F.expr(f"{failed} = '{c}')").alias(f"failed_{c}") for c in CATEGORIES],
        F.expr(f"{failed} is null)").alias("failed_unknown"),
        *[F.expr(f"percentile({ms}, array(0.5, 0.95))").alias(ms)
          for ms in ("decision_ms", "delivery_ms")],
    )  # fmt: skip
    return hours.withColumns({
        "created_on": F.to_date("started_at"),
        "authorization_rate": F.expr("succeeded / nullif(succeeded + failed, 0)"),
        "decision_p50_ms": F.expr(whole("decision_ms[0]")),
        "decision_p95_ms": F.expr(whole("decision_ms[1]")),
        "delivery_p50_ms": F.expr(whole("delivery_ms[0]")),
        "delivery_p95_ms": F.expr(whole("delivery_ms[1]")),
    }).select(*ProviderPerformanceHourly.columns)  # fmt: skip


def whole(percentile: str) -> str:
    """Half up. Between whole numbers these percentiles lie at hundredths: what a double made of
    them is brought back there first, so that no half is missed by a hair.
    """
    return f"cast(round(cast({percentile} as decimal(20,2))) as bigint)"


provider_performance_hourly = table_asset(
    ProviderPerformanceHourly, transform, payments=semantic_payments
)
