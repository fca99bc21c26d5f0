"""The usual record: JSON that holds the contract's fields, in its order, and nothing else.

Whether a record has unknown fields, a second object behind it or bytes that are no UTF-8 takes
further parses to find out. A record that equals its own parsed fields, spelled as JSON again, has
none of that; putting such a text together costs less than one parse.
"""

import re

from lakehouse_assets.lake.contract import escaped
from lakehouse_assets.lake.schema import members

Fields = list[tuple[str, str]]  # a name and Spark's spelling of its type

TEXTS = ("string", "timestamp", "date")  # quoted in JSON; timestamps are parsed as text
SPACES = (" ", "")  # after colons and commas: Python's serializer, and most others
FRACTIONS = "double|decimal"
# 7.50 as 7.50 or as 7.5; 7.00 as 7, as 7.00 or as 7.0.
NUMBERS = (
    "if({0} = cast({0} as bigint), cast(cast({0} as bigint) as string), cast({0} as string))",
    "cast({0} as string)",
    "cast(cast({0} as double) as string)",
)


def usual(text: str, parsed: str, fields: Fields) -> str:
    """SQL: `text` is `parsed`, a struct of these fields, as some serializer would write it."""
    kinds = " ".join(kind for _, kind in fields)
    if not fields or "array<" in kinds:
        return "false"
    ways = []
    for space in SPACES:
        same = [
            f"{text} = concat({', '.join(_pieces(parsed, fields, space, number))})"
            for number in (NUMBERS if re.search(FRACTIONS, kinds) else NUMBERS[1:2])
        ]
        begin = escaped(f'{{"{fields[0][0]}":{space}')
        ways.append(f"when startswith({text}, '{begin}') then {' or '.join(same)}")
    return f"(case {' '.join(ways)} else false end)"


def _pieces(parent: str, fields: Fields, space: str, number: str) -> list[str]:
    """What is to be put together. Each piece is copied, so quotes are parts of the names around a
    text, of which there are two spellings, and not put around it first.
    """
    pieces, text = [], ""  # the last field, if it is a text
    for place, (name, kind) in enumerate(fields):
        field, last = f"{parent}.`{name}`", text
        begin = escaped(f'{"," + space if place else "{"}"{name}":{space}')
        text = field if kind in TEXTS else ""
        pieces += [_name(begin, field=text, last=last), _value(field, kind, space, number)]
    return [*pieces, f"if({text} is null, '}}', '\"}}')" if text else "'}'"]


def _name(begin: str, field: str, last: str) -> str:
    """A name, the quote that ends the text before it, and the one that begins its own."""
    plain, quoted = (
        f"if({field} is null, '{end}{begin}null', '{end}{begin}\"')" if field else f"'{end}{begin}'"
        for end in ("", '"')
    )
    return f"if({last} is null, {plain}, {quoted})" if last else plain


def _value(field: str, kind: str, space: str, number: str) -> str:
    if kind in TEXTS:
        return f"coalesce(cast({field} as string), '')"
    if kind.startswith("struct<"):
        inner = ", ".join(_pieces(field, members(kind), space, number))
        return f"if({field} is null, 'null', concat({inner}))"
    said = number if re.match(FRACTIONS, kind) else NUMBERS[1]
    return f"coalesce({said.format(field)}, 'null')"
