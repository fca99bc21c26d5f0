"""What the raw rules of several tables look for, as SQL."""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import COMMIT, Across

WORDS = ("", "null", "none", "n/a", "nil")  # spellings of nothing, in lower case
SHORT = 6  # bytes, within which nothing is spelled, a space or two around it


def spells_null(column: str) -> str:
    """Nothing, spelled as text, spaces aside. Most values are told by their first letter."""
    words = ", ".join(f"'{word}'" for word in WORDS)
    begins = ", ".join(str(code) for code in sorted({0, *map(ord, " nN")}))  # 0: empty
    return (
        f"(ascii({column}) in ({begins}) and octet_length({column}) <= {SHORT} "
        f"and lower(trim({column})) in ({words}))"
    )


def is_country(column: str) -> str:
    """Two capital letters, told without a regular expression; or nothing."""
    second = f"substr({column}, 2, 1) between 'A' and 'Z'"
    letters = f"octet_length({column}) = 2 and {column} between 'AA' and 'ZZ' and {second}"
    return f"(({letters}) or {spells_null(column)})"


def none_spelled(*columns: str) -> str:
    return " and ".join(f"not coalesce({spells_null(column)}, false)" for column in columns)


def is_there(column: str) -> str:
    """A good record has a value here, and one that says something."""
    return f"_error is not null or not coalesce({spells_null(column)}, true)"


def is_one_of(column: str, words: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{column} in ({listed}) or {spells_null(column)}"


def one_content(topic: str) -> Across:
    """Staging lets the greater content stand; here one sees how often it had to choose."""
    ours = ", ".join([*RawTable.columns, COMMIT])
    return Across(
        "an_event_says_one_thing",
        f"""select event_id, updated_at, count(distinct content) as contents from
            (select event_id, updated_at, xxhash64(*) as content from
             (select * except ({ours}) from raw.{topic} where _error is null))
            where event_id is not null group by event_id, updated_at having contents > 1""",
        "two records with one event id and one time of change are the same record",
        threshold=0.05,
    )
