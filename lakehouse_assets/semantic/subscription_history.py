"""semantic.subscription_history: one row per subscription and span in which it was the same.

What a subscription was at any instant, and what it brought. The key is (subscription_id,
valid_from_at). A version begins when its provider changed it, whenever it came; of several events
of one instant the one with the greatest event id stands. To cancel is final at every provider: a
version told of after it stands as it was said, is marked, and brings nothing. What nobody can tell
(a status that we do not know, a price without currency or interval, a discount outside 0 to 100) is
NULL and counted. Versions that say the same are not made one. Nothing is joined or summed.

The scope cannot prune: a subscription lasts for years, so each batch looks for its own among the
keys of all. That is a column of text and bearable; see marts.subscription_revenue_monthly.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Rule, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.spans import History, spliced, unbroken
from lakehouse_assets.semantic.vocabulary import minor_units, units
from lakehouse_assets.staging.stg_payment_subscriptions import stg_payment_subscriptions


class SubscriptionHistory(History):
    subscription_id = column("string", "The provider's id of the subscription.", key=True)
    event_id = column("string", "The event that told of this version.")
    provider = column("string", "Who sends it, upper case.")
    customer_id = column("string", "Who subscribes.", nullable=True)
    merchant_id = column("string", "Who is paid.", nullable=True)
    status = column("string", "trialing, active, past_due or canceled.", nullable=True)
    is_after_cancel = column("boolean", "Whether it had been canceled before.")
    is_paying = column("boolean", "Active or past due, and never canceled before.")
    plan_id = column("string", "What is subscribed to.", nullable=True)
    plan_name = column("string", "The same for people.", nullable=True)
    plan_interval = column("string", "How often it is paid: day, week, month, year.", nullable=True)
    plan_currency = column("string", "ISO 4217.", nullable=True)
    plan_amount = column("decimal(12,2)", "Price, in `plan_currency`.", ge=0, nullable=True)
    plan_amount_minor = column(
        "bigint", "The same in the currency's smallest unit.", ge=0, nullable=True
    )
    discount_percent = column("int", "Of the price.", nullable=True)
    coupon_code = column("string", "Of which campaign.", nullable=True)
    promo_code = column("string", "As the customer typed it.", nullable=True)
    monthly_amount_minor = column(
        "bigint",
        "What it brings in a month, less the discount, half up, in the currency's smallest unit; "
        "0 unless it is paying.",
        ge=0, nullable=True,
    )  # fmt: skip
    trial_start_at = column("timestamp", "Begin of the trial, UTC.", nullable=True)
    trial_end_at = column("timestamp", "Its end, UTC.", nullable=True)
    canceled_at = column("timestamp", "When it was canceled, UTC.", nullable=True)
    created_at = column("timestamp", "When it began, UTC.")
    is_dirty = column("boolean", "Whether anything had to be mended.")
    arrived_at = column("timestamp", "When Kafka first received this version, UTC.")

    layout = Layout(
        partitioned_by="days(valid_from_at)",  # of a key's columns: it never changes
        scope=recompute_keys(at="", by=("subscription_id",)),
        unique_text=("event_id",),
    )
    rules = (
        *History.rules,
        Rule("status_known", "status is not null and status in "
             "('trialing', 'active', 'past_due', 'canceled')", "a word that we know", 0.01),
        Rule("not_after_cancel", "not is_after_cancel", "to cancel is final", 0.05),
        Rule("monthly_amount_known", "monthly_amount_minor is not null",
             "status, currency, interval and discount tell what it brings", 0.05),
    )  # fmt: skip
    across = unbroken("semantic.subscription_history", "subscription_id")


def transform(events: DataFrame) -> DataFrame:
    versions = Window.partitionBy("subscription_id").orderBy("valid_from_at")
    earlier = versions.rowsBetween(Window.unboundedPreceding, -1)
    price = ("provider_plan_amount", "provider", "plan_currency")
    canceled = F.bool_or(F.col("status") == "canceled").over(earlier)
    return (
        spliced(events, "subscription_id", at="updated_at", tie="event_id")
        .withColumns({
            "is_after_cancel": F.coalesce(canceled, F.lit(False)),
            "plan_amount": F.expr(units(*price)),
            "plan_amount_minor": F.expr(minor_units(*price)),
        })
        .withColumn("is_paying", F.expr(PAYING))
        .withColumn("monthly_amount_minor", F.expr(MONTHLY))
        .select(*[f"`{c}`" for c in SubscriptionHistory.columns])
    )  # fmt: skip


PAYING = "coalesce(status in ('active', 'past_due'), false) and not is_after_cancel"

# As decimals: no product is too large for them, and they are rounded half up.
_PERCENT = "100 - coalesce(cast(discount_percent as decimal(10,0)), 0)"
_A_YEAR = "case plan_interval when 'day' then 365 when 'week' then 52 when 'month' then 12 " \
          "when 'year' then 1 end"  # fmt: skip
_PRICE = f"cast(plan_amount_minor as decimal(15,0)) * ({_PERCENT}) * ({_A_YEAR}) / 1200"
MONTHLY = f"""case
    when is_paying and ({_PERCENT}) between 0 and 100 then cast(round({_PRICE}) as bigint)
    when not is_paying and (is_after_cancel or status in ('trialing', 'canceled')) then 0L
end"""

subscription_history = table_asset(SubscriptionHistory, transform, events=stg_payment_subscriptions)
