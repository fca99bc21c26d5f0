"""How the vendors of webhooks write things, as Spark expressions: one meaning for each.

Their JSON has a null for nothing, so words that spell nothing elsewhere are words here: somebody's
name is Null. What is not of its kind is NULL.
"""

from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.raw.webhook import MONEY
from lakehouse_assets.sources.webhooks.countries import COUNTRIES, CURRENCIES
from lakehouse_assets.staging.clean import on_time

NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,9})?\z"
WHOLE = r"^-?[0-9]{1,18}\z"
INSTANT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})\z"
)
# The seconds of the years 1 to 9999: what every reader can hold.
FIRST_S, LAST_S = -62_135_596_800, 253_402_300_799
GONE = ("event.deletion", "event.privacyDeletion")
LIFE = ("event.creation", "event.restore", *GONE)


def said(name: "str | Column") -> Column:
    return F.col(name) if isinstance(name, str) else name


def text(name: "str | Column") -> Column:
    """Trimmed, and nothing if empty."""
    return F.nullif(F.trim(said(name)), F.lit(""))


def upper(name: "str | Column") -> Column:
    return F.upper(text(name))


def lower(name: "str | Column") -> Column:
    return F.lower(text(name))


def is_word(name: str, word: str) -> Column:
    return F.coalesce(lower(name) == word, F.lit(False))


def country(name: "str | Column") -> Column:
    """ISO 3166 alpha-2, or the English name of a country that we know."""
    value = text(name)
    meant = F.when(value.rlike(r"^[A-Za-z]{2}\z"), F.upper(value))
    for code, known in COUNTRIES.items():
        meant = meant.when(F.lower(value) == known.name.lower(), F.lit(code))
    return meant


def money(name: "str | Column") -> Column:
    """Money as text, in units."""
    value = text(name)
    return F.when(value.rlike(NUMBER), value.try_cast(MONEY))


def units(minor: Column, currency: Column) -> Column:
    """Smallest units in units of a currency that we know."""
    whole, meant = minor.cast("decimal(19,0)"), F.lit(None)
    for digits in set(CURRENCIES.values()):
        codes = [code for code, its in CURRENCIES.items() if its == digits]
        meant = F.when(currency.isin(*codes), whole / 10**digits).otherwise(meant)
    return meant.try_cast(MONEY)


def instant(name: str) -> Column:
    """ISO 8601 with a zone."""
    value = F.col(name)
    return F.when(value.rlike(INSTANT), value.try_cast("timestamp"))


def after_epoch(count: Column, per_second: int = 1) -> Column:
    """So many seconds, or parts of one, after 1970."""
    made = F.timestamp_seconds(count) if per_second == 1 else F.timestamp_millis(count)
    inside = count.between(FIRST_S * per_second, LAST_S * per_second)
    return F.when(inside, made)


def nested(name: str, schema: str) -> Column:
    """What raw kept as JSON text."""
    return F.from_json(F.col(name), schema)


def from_gid(name: str) -> Column:
    """Of `gid://shopify/Customer/17`: 17."""
    return F.nullif(F.regexp_extract(text(name), r"[^/]*\z", 0), F.lit(""))


class FactTable(StagingTable):
    """Base of what HubSpot said of its subjects: the newest of each fact about each."""

    fact = column("string", "`property.…`, `event.…` or `association.primary_company`.", key=True)
    occurred_at = column("timestamp", "When it became so, UTC.")
    value = column("string", "What it is now; NULL: nothing, or there is none.", nullable=True,
                   pii=True)  # fmt: skip

    layout = Layout(scope=newest(by="occurred_at"))
    rules: ClassVar[tuple[Rule, ...]] = on_time("occurred_at")


def hubspot_facts(events: DataFrame, key: str) -> DataFrame:
    """One fact of each event, about its subject: an association's is the one it goes out from."""
    kind = F.regexp_extract("subscription_type", r"\.(.*)\z", 1)
    is_property = kind == "propertyChange"
    is_company = F.expr("association_type = 'CONTACT_TO_COMPANY' and is_primary_association")
    company = F.when(~F.coalesce("is_association_removed", F.lit(False)), text("to_object_id"))
    return events.where("_error is null").select(
        F.coalesce(text("object_id"), text("from_object_id")).alias(key),
        F.when(is_property, F.concat(F.lit("property."), F.coalesce("property_name", F.lit(""))))
        .when(is_company, F.lit("association.primary_company"))
        .otherwise(F.concat(F.lit("event."), F.coalesce(kind, F.lit(""))))
        .alias("fact"),
        after_epoch(F.col("occurred_at_ms"), 1_000).alias("occurred_at"),
        F.when(F.coalesce(is_property, F.lit(False)), text("property_value"))
        .when(is_company, company)
        .alias("value"),
        "arrived_at",
        F.expr(RECORD),
    )


def folded(facts: DataFrame, key: str, properties: dict[str, str]) -> DataFrame:
    """One row of each subject: the properties' values under these names, NULL of one deleted."""
    fact = F.col("fact")
    state = F.struct("occurred_at", fact.isin(*GONE).alias("is_deleted"))
    last = F.max(F.when(fact.isin(*LIFE), state))
    values = {f"property.{name}": column for name, column in properties.items()}
    values["association.primary_company"] = "primary_company"
    told = facts.groupBy(key).agg(
        F.coalesce(last["is_deleted"], F.lit(False)).alias("is_deleted"),
        F.max(F.when(fact == "event.creation", F.col("occurred_at"))).alias("created_at"),
        F.max("occurred_at").alias("updated_at"),
        *[F.max(F.when(fact == name, F.col("value"))).alias(column)
          for name, column in values.items()],
    )  # fmt: skip
    return told.withColumns(
        {column: F.when(~F.col("is_deleted"), F.col(column)) for column in values.values()}
    )
