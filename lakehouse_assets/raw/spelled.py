"""What the raw rules of several tables look for, as SQL."""

WORDS = ("", "null", "none", "n/a", "nil")  # spellings of nothing, in lower case


def spells_null(column: str) -> str:
    """Nothing, spelled as text. Most values are told by their length alone."""
    words = ", ".join(f"'{word}'" for word in WORDS)
    return f"(octet_length({column}) <= 4 and lower({column}) in ({words}))"


def none_spelled(*columns: str) -> str:
    return " and ".join(f"not coalesce({spells_null(column)}, false)" for column in columns)


def is_there(column: str) -> str:
    """A good record has a value here, and one that says something."""
    return f"_error is not null or not coalesce({spells_null(column)}, true)"


def is_one_of(column: str, words: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{column} in ({listed}) or {spells_null(column)}"
