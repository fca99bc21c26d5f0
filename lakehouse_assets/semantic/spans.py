"""Histories: what was so from when until when, without a gap and without an overlap."""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Across, Rule, Table, column


class History(Table):
    """Base of histories, whose key is of something and of the instant from which on it was so.

    What was so at an instant: `valid_from_at <= t and (valid_to_at > t or valid_to_at is null)`.
    """

    valid_from_at = column("timestamp", "Since when this is so, UTC.", key=True)
    valid_to_at = column(
        "timestamp", "When the next version began, UTC; NULL: it is still so.", nullable=True
    )
    is_current = column("boolean", "Whether it is still so.")

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("ends_after_it_begins", "valid_to_at > valid_from_at", "a version lasts"),
        Rule("current_is_open", "is_current = (valid_to_at is null)", "what is current has no end"),
    )


def unbroken(table: str, key: str) -> tuple[Across, ...]:
    """What only all versions of a key can tell."""
    following = f"lead(valid_from_at) over (partition by {key} order by valid_from_at)"
    return (
        Across(
            "no_gap_no_overlap",
            f"""select {key}, valid_from_at, valid_to_at, next_at from
                (select *, {following} as next_at from {table})
                where not valid_to_at <=> next_at""",
            "a version ends where the next one begins",
        ),
        Across(
            "one_current_row",
            f"""select {key}, count_if(is_current) as current_rows from {table}
                group by {key} having current_rows != 1""",
            "of each key one version is so still",
        ),
    )


def spliced(frame: DataFrame, key: str, at: str, tie: str = "") -> DataFrame:
    """Each version of a key, from its instant until the next one's, with a history's columns.

    Of several at the same instant the one with the greatest `tie` stands, because only that one
    lasts. A version that comes late ends the one before it, and so ends itself where the next
    begins. `tie` may be left out where a key has one version at an instant.
    """
    order = [F.col(c) for c in (at, tie) if c]
    following = F.lead(at).over(Window.partitionBy(key).orderBy(*order))
    versions = frame.withColumns({"valid_from_at": F.col(at), "valid_to_at": following})
    lasting = versions.where("valid_to_at > valid_from_at or valid_to_at is null")
    return lasting.withColumn("is_current", F.col("valid_to_at").isNull())


def as_of(events: DataFrame, versions: DataFrame, key: str, **told: str) -> DataFrame:
    """Events with what was so of their `key` at `created_at`; NULL where nothing was known.

    `told`: a column of the versions and its name in the events.
    """
    return told_at(events, spliced(versions, key, "changed_at"), key, "created_at", **told)


def told_at(events: DataFrame, history: DataFrame, key: str, at: str, **told: str) -> DataFrame:
    """The same by a history, at any instant of the events'."""
    columns = [F.col(c).alias(name) for c, name in told.items()]
    known = history.select(F.col(key).alias("_key"), "valid_from_at", "valid_to_at", *columns)
    then = F.expr(f"`{key}` = _key and {was_so(at)}")
    return events.join(known, then, how="left").drop("_key", "valid_from_at", "valid_to_at")


def was_so(at: str) -> str:
    """SQL: a history's version was so at that instant."""
    return f"{at} >= valid_from_at and ({at} < valid_to_at or valid_to_at is null)"
