"""Rows that are computed together: found by part of their key or another column, and by reach."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import (
    EVENTS,
    HOUR,
    LATEST,
    PEERS,
    STEPS,
    add,
    day,
    event,
    own_lake,
)
from lakehouse_assets_tests.support import stored


@pytest.fixture
def lake(stack: Path, tmp_path: Path) -> Iterator[Lake]:
    with own_lake(tmp_path / "together") as lake:
        yield lake


def rewritten(lake: Lake, table: LakeTable) -> int:
    """Rows that a batch wrote."""
    (published,) = advance(lake, table).published
    return published.stored


def test_a_late_version_is_spliced_in_and_other_ids_are_left_alone(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", 1), event(2, "a", 5), event(3, "b", 1), event(4, None, 2))
    advance(lake, STEPS)
    add(lake, EVENTS, event(5, "a", 3), event(6, None, 4))
    assert rewritten(lake, STEPS) == 4  # of a: 1 and the new 3, of no id: 2 and the new 4
    assert [tuple(row.values()) for row in stored(STEPS.name)] == [
        ("a", 1, 3), ("a", 3, 5), ("a", 5, None), ("b", 1, None), (None, 2, 4), (None, 4, None),
    ]  # fmt: skip


def peers(lake: Lake) -> dict[str, int]:
    advance(lake, LATEST)
    advance(lake, PEERS)
    return {row["id"]: row["peers"] for row in stored(PEERS.name)}


def test_what_comes_late_touches_what_is_within_reach_of_it_and_no_more(lake: Lake) -> None:
    def made(seq: int, id: str, hours: int, version: int = 1) -> dict[str, object]:
        return event(seq, id, version, at=day(1) + hours * HOUR)

    add(lake, EVENTS, made(1, "a", 0), made(2, "b", 24), made(3, "c", 25), made(4, "x", 1, 2))
    assert peers(lake) == {"a": 1, "b": 2, "c": 2, "x": 1}
    add(lake, EVENTS, made(5, "late", 1))
    advance(lake, LATEST)
    assert rewritten(lake, PEERS) == 3  # itself, b and c; neither a nor what is of another version
    assert peers(lake) == {"a": 1, "late": 2, "b": 3, "c": 3, "x": 1}


def test_who_moves_on_to_others_is_missed_by_those_it_left(lake: Lake) -> None:
    add(lake, EVENTS, *[event(n, id, at=day(1)) for n, id in enumerate("abc")])
    assert peers(lake) == {"a": 3, "b": 3, "c": 3}
    add(lake, EVENTS, event(9, "b", version=2, at=day(1)))
    assert peers(lake) == {"a": 2, "b": 1, "c": 2}


def test_a_child_of_recomputed_rows_takes_their_news_until_some_of_them_go(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", 1), event(2, "a", 2, at=day(1) + timedelta(days=3)))
    advance(lake, STEPS)
    tally = lake.catalog.head(STEPS.name).tallies[0]
    assert tally["gone"] == 0
    assert not lake.catalog.head(STEPS.name).may_have_lost(0)
    assert lake.catalog.head(STEPS.name).may_have_lost(-1)  # of that commit nobody knows
