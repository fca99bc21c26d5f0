"""Cleaning that every staging table shares: one meaning for each, as Spark expressions."""

from pyspark.sql import Column
from pyspark.sql import functions as F

NOTHING = ("", "null", "none", "n/a", "nil")  # spellings of NULL, trimmed and in lower case
TRUE, FALSE = ("true", "yes", "y", "1", "t"), ("false", "no", "n", "0", "f")


def text(name: str) -> Column:
    """Trimmed; every spelling of nothing is NULL."""
    trimmed = F.trim(F.col(name))
    return F.when(~F.lower(trimmed).isin(*NOTHING), trimmed)


def upper(name: str) -> Column:
    return F.upper(text(name))


def lower(name: str) -> Column:
    return F.lower(text(name))


def country(name: str) -> Column:
    """ISO 3166 alpha-2 as it stands; anything else is NULL."""
    value = text(name)
    return F.when(value.rlike("^[A-Z]{2}$"), value)


def boolean(name: str) -> Column:
    word = lower(name)
    return F.when(word.isin(*TRUE), F.lit(True)).when(word.isin(*FALSE), F.lit(False))


def spells_nothing(*names: str) -> Column:
    """Some column holds text that only says that there is nothing."""
    said = [F.coalesce(F.lower(F.trim(F.col(n))).isin(*NOTHING), F.lit(False)) for n in names]
    any_said = said[0]
    for one in said[1:]:
        any_said = any_said | one
    return any_said
