"""analytics.customer_risk_features: one row per charge, with what its customer did until then.

What a fraud model or rule looks at, exact to the event, never by buckets of time. The hour of a
charge begins an hour before it and ends with it; both ends belong to it, and so do the charge
itself and all others of its instant. Before a charge is only what has an earlier instant, so there
is no tie to break. A charge that comes late changes every hour and every pause that it falls into.

A charge that names no customer stands alone. What nobody said is not counted: no card, no country,
no score; a charge failed only if its status is `failed`. Amounts are added within one currency.
Nothing is judged here: limits are marts.fraud_watchlist's business.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window, WindowSpec

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.payments import payments as semantic_payments
from lakehouse_assets.semantic.vocabulary import CARD

HOUR, SECOND = 3_600_000_000, 1_000_000  # microseconds, as `at`
CAP = timedelta(days=30)  # a longer pause is told as none
CAP_S = int(CAP.total_seconds())


class CustomerRiskFeatures(Table):
    charge_id = column("string", "The provider's id of the charge.", key=True)
    customer_id = column("string", "The payer; NULL: nobody said.", nullable=True)
    created_at = column("timestamp", "When the charge was made, UTC.")
    currency = column("string", "ISO 4217.", nullable=True)
    transactions_1h = column("bigint", "Charges in its hour.", ge=1)
    total_amount_1h = column(
        "decimal(20,2)", "Sum of those in `currency`; NULL: it is not known.", ge=0, nullable=True
    )
    avg_risk_1h = column(
        "double", "Mean risk score of those that have one.", ge=0, le=100, nullable=True
    )
    cards_1h = column("bigint", "Different means of payment in the hour.", ge=0)
    countries_1h = column("bigint", "Different countries of cards in the hour.", ge=0)
    failures_1h = column("bigint", "Failed charges of the hour before this one.", ge=0)
    since_last_charge_s = column(
        "bigint", "Whole seconds since the one before; NULL: none in 30 days.", ge=0, le=CAP_S,
        nullable=True,
    )  # fmt: skip
    _known_at = column(
        "timestamp", "When the last arrived of its hour, its minute and the one before, UTC."
    )

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at", by=("customer_id",), reach=CAP),
        unique_text=("charge_id",),
    )


def transform(payments: DataFrame) -> DataFrame:
    charges = payments.select(
        *("charge_id", "customer_id", "created_at", "currency", "amount", "risk_score"),
        "arrived_at",
        F.col("card_country").alias("country"),
        F.expr(CARD).alias("card"),
        F.expr("if(customer_id is null, charge_id, null)").alias("alone"),
        F.expr("if(status = 'failed', 1, 0)").alias("failed"),
        F.unix_micros("created_at").alias("at"),
        F.expr("unix_seconds(created_at) div 60").alias("minute"),
    ).repartition("customer_id", "alone")  # once, for all that follows
    charges = _with_stays(_with_stays(charges, "card"), "country")
    theirs, total = _charges(), _in_hour(_charges("currency"), F.expr("coalesce(amount, 0)"))
    before = theirs.rangeBetween(Window.unboundedPreceding, -1)
    last = F.max(F.struct("at", "arrived_at")).over(before)
    pause = (F.col("at") - last["at"]) / SECOND
    known = F.max("arrived_at").over(_charges(by="minute").rangeBetween(-60, 0))
    risk = _in_hour(theirs, F.expr("coalesce(risk_score, 0)"))
    scored = _in_hour(theirs, F.expr("if(risk_score is null, 0, 1)"))
    return charges.select(
        *("charge_id", "customer_id", "created_at", "currency"),
        _in_hour(theirs, F.lit(1)).alias("transactions_1h"),
        F.when(F.col("currency").isNotNull(), total).cast("decimal(20,2)").alias("total_amount_1h"),
        F.try_divide(risk, scored).alias("avg_risk_1h"),
        _in_hour(theirs, F.col("card_comes"), F.col("card_goes")).alias("cards_1h"),
        _in_hour(theirs, F.col("country_comes"), F.col("country_goes")).alias("countries_1h"),
        _in_hour(theirs, F.col("failed"), until=-1).alias("failures_1h"),
        F.when(pause <= CAP_S, pause.cast("bigint")).alias("since_last_charge_s"),
        F.greatest(known, F.when(pause <= CAP_S, last["arrived_at"])).alias("_known_at"),
    )


def _charges(*also: str, by: str = "at") -> WindowSpec:
    """A customer's charges in their order."""
    return Window.partitionBy("customer_id", "alone", *also).orderBy(by)


def _in_hour(
    charges: WindowSpec, came: Column, gone: Column | None = None, until: int = 0
) -> Column:
    """A sum over the hour: what came until now, less what was gone before the hour.

    Both frames only grow, so that a charge costs the same however many are in its hour; a frame
    that slides is added up anew for each, which a customer of many charges makes endless.
    """
    grown = F.sum(came).over(charges.rangeBetween(Window.unboundedPreceding, until))
    before = charges.rangeBetween(Window.unboundedPreceding, -HOUR - 1)
    passed = F.sum(came if gone is None else gone).over(before)
    return F.coalesce(grown, F.lit(0)) - F.coalesce(passed, F.lit(0))


def _with_stays(charges: DataFrame, what: str) -> DataFrame:
    """Where a customer's card or country comes and goes, so that the different ones can be summed.

    It comes with a charge that has none of it in the hour before, and is gone an hour after one
    that none of it follows in an hour.
    """
    said, at = F.col(what).isNotNull(), F.col("at")
    same = Window.partitionBy("customer_id", "alone", what).orderBy("at", "charge_id")
    comes = said & (F.coalesce(at - F.lag("at").over(same), F.lit(HOUR + 1)) > HOUR)
    goes = said & (F.coalesce(F.lead("at").over(same) - at, F.lit(HOUR + 1)) > HOUR)
    flags = {f"{what}_comes": comes.cast("int"), f"{what}_goes": goes.cast("int")}
    return charges.withColumns(flags)


customer_risk_features = table_asset(CustomerRiskFeatures, transform, payments=semantic_payments)
