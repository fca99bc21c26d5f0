"""Histories: what was so from when until when, without a gap and without an overlap."""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Rule, Table, column


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
