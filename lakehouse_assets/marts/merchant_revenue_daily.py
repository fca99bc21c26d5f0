"""marts.merchant_revenue_daily: one row per day, merchant and currency.

What a merchant earned: what charges brought, what refunds and disputes took, what won disputes gave
back, and what is left. Every movement of the ledger is in exactly one row, on the day on which its
charge, refund or dispute was made, so that the sums of a currency here are those of the ledger. A
refund counts on its own day and as its own merchant and currency, whatever its charge says.

Amounts of different currencies are never added; those that say no currency have rows of their own,
whose minor units are of no one currency: they are there to reconcile, and have no `net`. An amount
that nobody could tell is in no sum; `unvalued` counts those.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Across, Layout, Rule, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.payment_ledger import payment_ledger as semantic_payment_ledger
from lakehouse_assets.semantic.vocabulary import exponent


class MerchantRevenueDaily(Table):
    created_on = column("date", "Day on which it was charged, refunded, disputed, UTC.", key=True)
    merchant_id = column("string", "Whose revenue; NULL: nobody said.", key=True, nullable=True)
    currency = column("string", "ISO 4217; NULL: nobody said.", key=True, nullable=True)
    charges = column("bigint", "Charges that succeeded.")
    refunds = column("bigint", "Refunds that succeeded.")
    disputes = column("bigint", "Chargebacks, whatever became of them.")
    reversals = column("bigint", "Chargebacks that the merchant won.")
    unvalued = column("bigint", "Of all these, how many are in no sum: amount unknown.")
    gross_minor = column("bigint", "Charged, in the currency's smallest unit.", ge=0)
    refunded_minor = column("bigint", "Refunded, as a positive number.", ge=0)
    disputed_minor = column("bigint", "Withdrawn by disputes, as a positive number.", ge=0)
    reversed_minor = column("bigint", "Given back by won disputes.", ge=0)
    net_minor = column("bigint", "What is left; below zero where more went out than came in.")
    net = column("decimal(20,2)", "The same in units of `currency`.", nullable=True)

    layout = Layout(scope=recompute_days(at="created_at", on="created_on"))
    rules = (
        Rule(
            "net_adds_up",
            "net_minor = gross_minor - refunded_minor - disputed_minor + reversed_minor",
            "net is gross less refunded and disputed, plus reversed",
        ),
    )
    across = (
        Across(
            "nets_to_the_ledger",
            """select * from
                (select currency, sum(net_minor) as net_minor
                 from marts.merchant_revenue_daily group by currency)
                full join
                (select currency as of, sum(coalesce(amount_minor, 0)) as ledger_minor
                 from semantic.payment_ledger group by currency)
                on currency <=> of where not net_minor <=> ledger_minor""",
            "the sums of each currency are those of the ledger",
        ),
    )


def transform(ledger: DataFrame) -> DataFrame:
    daily = ledger.groupBy(
        F.to_date("created_at").alias("created_on"), "merchant_id", "currency"
    ).agg(
        _count("charge").alias("charges"),
        _count("refund").alias("refunds"),
        _count("dispute").alias("disputes"),
        _count("reversal").alias("reversals"),
        F.expr("count_if(amount_minor is null)").alias("unvalued"),
        _sum("charge").alias("gross_minor"),
        (-_sum("refund")).alias("refunded_minor"),
        (-_sum("dispute")).alias("disputed_minor"),
        _sum("reversal").alias("reversed_minor"),
        F.expr("coalesce(sum(amount_minor), 0)").alias("net_minor"),
    )
    unit = f"cast(pow(10, {exponent('currency')}) as int)"
    net = F.expr(f"cast(cast(net_minor as decimal(20,0)) / {unit} as decimal(20,2))")
    return daily.withColumn("net", net).select(*MerchantRevenueDaily.columns)


def _count(kind: str) -> Column:
    return F.expr(f"count_if(kind = '{kind}')")


def _sum(kind: str) -> Column:
    return F.expr(f"coalesce(sum(amount_minor) filter (where kind = '{kind}'), 0)")


merchant_revenue_daily = table_asset(
    MerchantRevenueDaily, transform, ledger=semantic_payment_ledger
)
