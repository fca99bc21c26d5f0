"""marts.subscription_revenue_monthly: one row per month and currency in which plans are priced.

How recurring revenue grows: what stands at a month's end, who began to pay in it, who left. The
end of the newest month is the newest instant in the data: no clock is asked. Each currency's
months begin with its first version and go on to the newest month of all; months without news
stand too. All is told by when providers changed things, in the currency of the version that tells
it. Different currencies are never added: where no currency is said, revenue is NULL.

The scope cannot prune: a change touches every month from its own on. That is bearable, because it
reads a few columns of the subscriptions' history alone, of which a million versions take seconds.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_all
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.subscription_history import (
    subscription_history as semantic_subscription_history,
)
from lakehouse_assets.semantic.vocabulary import exponent


class SubscriptionRevenueMonthly(Table):
    month_on = column("date", "First day of the month, UTC.", key=True)
    plan_currency = column("string", "ISO 4217.", key=True, nullable=True)
    mrr_minor = column(
        "bigint", "Recurring revenue a month at its end, smallest unit.", ge=0, nullable=True
    )
    mrr = column("decimal(20,2)", "The same in units of the currency.", ge=0, nullable=True)
    subscriptions = column("bigint", "Subscriptions that pay at its end.", ge=0)
    unpriced = column("bigint", "Of these, how many revenue is without: price not known.", ge=0)
    new = column("bigint", "Subscriptions that paid for the first time.", ge=0)
    trials_converted = column("bigint", "Of these, how many went from trial to active.", ge=0)
    churned = column("bigint", "Subscriptions that had been paying and were canceled.", ge=0)

    layout = Layout(scope=recompute_all())
    rules = (
        Rule("unpriced_pay", "unpriced <= subscriptions", "they are some of those that pay"),
        Rule("converted_are_new", "trials_converted <= new", "a trial converts once"),
    )


STANDING = {  # what a version counts for from its month on until the one in which it ends
    "subscriptions": "is_paying",
    "unpriced": "is_paying and (monthly_amount_minor is null or plan_currency is null)",
}
HAPPENED = {  # in the month in which it begins
    "new": "is_paying and not had_paid",
    "trials_converted": "is_paying and not had_paid and status = 'active' and was = 'trialing'",
    "churned": "status = 'canceled' and not is_after_cancel and had_paid",
}
COUNTED = ("mrr_minor", *STANDING, *HAPPENED)


def transform(subscriptions: DataFrame) -> DataFrame:
    summed = _steps(subscriptions).groupBy("month_on", "plan_currency")
    monthly = _every_month(summed.agg(*[F.sum(c).alias(c) for c in COUNTED]))
    so_far = Window.partitionBy("plan_currency").orderBy("month_on")
    standing = {c: F.sum(c).over(so_far) for c in ("mrr_minor", *STANDING)}
    units = f"cast(mrr_minor as decimal(20,0)) / cast(pow(10, {exponent('plan_currency')}) as int)"
    return (
        monthly.withColumns(standing)
        .withColumn("mrr_minor", F.expr("if(plan_currency is not null, mrr_minor, null)"))
        .withColumn("mrr", F.expr(f"cast({units} as decimal(20,2))"))
        .select(*SubscriptionRevenueMonthly.columns)
    )


def _steps(subscriptions: DataFrame) -> DataFrame:
    """What each version brings in the month in which it begins, and takes with it when it ends."""
    versions = Window.partitionBy("subscription_id").orderBy("valid_from_at")
    earlier = versions.rowsBetween(Window.unboundedPreceding, -1)
    told = subscriptions.withColumns({
        "had_paid": F.coalesce(F.bool_or("is_paying").over(earlier), F.lit(False)),
        "was": F.lag("status").over(versions),
    })  # fmt: skip
    begun = _step("valid_from_at", HAPPENED)
    ended = _step("valid_to_at", dict.fromkeys(HAPPENED, "false"), sign=-1)
    steps = told.selectExpr("plan_currency", f"inline(array({begun}, {ended}))")
    return steps.where("month_on is not null")


def _step(at: str, happened: dict[str, str], sign: int = 1) -> str:
    brought = "if(is_paying and plan_currency is not null, coalesce(monthly_amount_minor, 0), 0)"
    counts = [f"if({sql}, 1, 0)" for sql in (*STANDING.values(), *happened.values())]
    told = [f"{sign} * cast({sql} as bigint) as {name}"
            for name, sql in zip(COUNTED, (brought, *counts), strict=True)]  # fmt: skip
    return f"struct(trunc({at}, 'month') as month_on, {', '.join(told)})"


def _every_month(monthly: DataFrame) -> DataFrame:
    """Each currency's months up to the newest of all, in which nothing need have happened."""
    following = F.lead("month_on").over(Window.partitionBy("plan_currency").orderBy("month_on"))
    newest = F.max("month_on").over(Window.partitionBy(F.lit(0)))
    until = F.coalesce(F.add_months(following, -1), newest)
    months = F.expr("posexplode(sequence(month_on, until, interval 1 month)) as (place, month)")
    known = monthly.withColumn("until", until).select("plan_currency", *COUNTED, months)
    in_first = [F.expr(f"if(place = 0, {c}, 0)").alias(c) for c in COUNTED]
    return known.select(F.col("month").alias("month_on"), "plan_currency", *in_first)


subscription_revenue_monthly = table_asset(
    SubscriptionRevenueMonthly, transform, subscriptions=semantic_subscription_history
)
