"""Cleaning that every staging table shares: one meaning for each, as Spark expressions."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Rule
from lakehouse_assets.raw.spelled import WORDS
from lakehouse_assets.sources.payments.providers import letters

TRUE, FALSE = ("true", "yes", "y", "1", "t"), ("false", "no", "n", "0", "f")
AHEAD = "interval 5 minutes"  # how far a provider's clock may be ahead of Kafka's


def on_time(*names: str) -> tuple[Rule, ...]:
    """Rules: none of these instants was yet to come when Kafka received the record."""
    return tuple(
        Rule(f"{name.removesuffix('_at')}_not_in_future", f"{name} <= arrived_at + {AHEAD}")
        for name in names
    )


def text(name: str) -> Column:
    """Trimmed; every spelling of nothing is NULL."""
    trimmed = F.trim(F.col(name))
    return F.when(~F.lower(trimmed).isin(*WORDS), trimmed)


def upper(name: str) -> Column:
    return F.upper(text(name))


def lower(name: str) -> Column:
    return F.lower(text(name))


def texts(*names: str) -> list[Column]:
    """Each as text, under its own name."""
    return [text(name).alias(name) for name in names]


def matching(name: str, pattern: str) -> Column:
    """What is of this form as it stands; anything else is NULL."""
    value = text(name)
    return F.when(value.rlike(pattern), value)


def country(name: str) -> Column:
    """ISO 3166 alpha-2."""
    return matching(name, r"^[A-Z]{2}\z")  # `$` would let a line's end stand behind it


def one_of(name: str, spellings: dict[str, tuple[str, ...]]) -> Column:
    """The word that is meant by a spelling, whatever its case and punctuation; one that nobody
    knows stays, in lower case.
    """
    said = F.regexp_replace(lower(name), "[^a-z0-9]", "")
    meant = F.lit(None)
    for word, ways in spellings.items():
        meant = F.when(said.isin(*{letters(way) for way in ways}), F.lit(word)).otherwise(meant)
    return F.coalesce(meant, lower(name))


def boolean(name: str) -> Column:
    word = lower(name)
    return F.when(word.isin(*TRUE), F.lit(True)).when(word.isin(*FALSE), F.lit(False))


def differs(name: str, cleaned: Column) -> Column:
    """Cleaning made another word of it, or none."""
    return F.coalesce(F.trim(F.col(name)) != F.coalesce(cleaned, F.lit("")), F.lit(False))


def spells_nothing(*names: str) -> Column:
    """Some column holds text that only says that there is nothing."""
    said = [F.coalesce(F.lower(F.trim(F.col(n))).isin(*WORDS), F.lit(False)) for n in names]
    any_said = said[0]
    for one in said[1:]:
        any_said = any_said | one
    return any_said
