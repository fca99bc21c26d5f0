"""The short way to tell a usual record says what the long way would."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as tried
from hypothesis import strategies as st

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.topics import parse as parsing
from lakehouse_assets.topics.spelling import usual
from lakehouse_assets_tests.topics.records import ARRIVED, notes, parsed

TEXT = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.sampled_from(['"', "\\", '","count":1', '"}', "null", "é", "\U0001f600", "\x00", "'"]),
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "id": TEXT,
    "amount": st.sampled_from([None, 1.5, 2, 7.0, 1e3, 0.1, -3.25, "1.5", True]),
    "count": st.sampled_from([None, 0, -4, 2**31, 1.0, "7"]),
    "made_at": st.sampled_from([None, "2024-03-01T01:00:00Z", "soon", 17]),
    "tags": st.one_of(
        st.none(), st.fixed_dictionaries({"colour": TEXT, "shape": TEXT}),
        st.dictionaries(st.sampled_from(["colour", "shape", "new"]), TEXT), st.just("red"),
    ),
}  # fmt: skip
SERIALIZERS = ((",", ":"), (", ", ": "), (",", ": "))


@st.composite
def records(draw: st.DrawFn) -> bytes:
    """Mostly usual ones; some with names missing, moved, doubled or new, some broken."""
    value = draw(st.fixed_dictionaries(FIELDS))
    names = list(value)
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from([*names, "new"]), max_size=7))
    between, after = draw(st.sampled_from(SERIALIZERS))
    ascii_only = draw(st.booleans())
    members = [
        f'"{n}"{after}' + json.dumps(
            value.get(n, 1), separators=(between, after), ensure_ascii=ascii_only
        )
        for n in names
    ]  # fmt: skip
    text = ("{" + between.join(members) + "}").encode(errors="surrogatepass")
    return text + draw(st.sampled_from([b"", b"", b"", b" ", b"{}", b"\n", b"x"]))


class Every(RawTable, name="raw.every"):
    """raw.every: a column of each type."""

    text = column("string", "Text.")
    small = column("int", "A number.")
    large = column("bigint", "A larger one.")
    inexact = column("double", "An inexact one.")
    yes = column("boolean", "Yes or no.")
    day = column("date", "A day.")
    inner = column("struct<at:timestamp,deep:struct<n:int,d:decimal(5,1)>>", "An object.")


@tried(
    max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(values=st.lists(records(), min_size=150, max_size=150))
def test_both_ways_read_the_same(lake: Lake, values: list[bytes]) -> None:
    short = parsed(lake, notes("any"), *values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "usual", lambda *_: "false")
        long = parsed(lake, notes("any"), *values)
    for value, one, other in zip(values, short, long, strict=True):
        assert one | {"_loaded_at": other["_loaded_at"]} == other, value


@pytest.mark.parametrize("separators", SERIALIZERS[:2])
@pytest.mark.parametrize("amount", ["7.50", "7.5", "7.0", "null"])
def test_usual_records_are_told_by_their_spelling(
    lake: Lake, separators: tuple[str, str], amount: str
) -> None:
    record = {
        "id": "a",
        "amount": 0,
        "count": 2,
        "made_at": None,
        "tags": {"colour": "é", "shape": None},
    }
    text = json.dumps(record, separators=separators, ensure_ascii=False)
    value = text.replace(f'"amount"{separators[1]}0', f'"amount"{separators[1]}{amount}').encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_unknown", lambda _: "not usual")  # keeps the bytes of all others
        short, long = parsed(lake, notes("any"), value, value + b" ")
    assert (short["_payload"], long["_payload"]) == (None, value + b" ")
    assert short["tags"] == long["tags"] == {"colour": "é", "shape": None}


def test_every_type_has_a_spelling(lake: Lake) -> None:
    record = {
        "text": "a", "small": -1, "large": 2**40, "inexact": 0.5, "yes": True, "day": "2024-03-01",
        "inner": {"at": None, "deep": {"n": 1, "d": 1.5}},
    }  # fmt: skip
    text = json.dumps(record, separators=(",", ":"))
    later = text.replace('"at":null', '"at":"2024-03-01T10:20:00Z"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_unknown", lambda _: "not usual")
        table = raw_table(Every, topic="every", group="test")
        plain, timed = parsed(lake, table, text.encode(), later.encode())
    assert (plain["_error"], plain["_payload"]) == (None, None)
    assert plain["inner"] == {"at": None, "deep": {"n": 1, "d": Decimal("1.5")}}
    assert (timed["_error"], timed["inner"]["at"]) == (None, ARRIVED)


def test_a_table_with_lists_or_without_fields_has_no_usual_record() -> None:
    assert usual("t", "j", [("names", "array<string>")]) == usual("t", "j", []) == "false"
