"""Batches that broke an invariant: what is kept of them, who tries again, and when."""

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.catalog import HOLD
from lakehouse_assets.lake.contract import recompute_keys
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, Latest, add, event, latest_of
from lakehouse_assets_tests.support import stored


def ids(name: str) -> list[object]:
    return [r["id"] for r in stored(name, "id")]


class Whole(Latest, name="bare.whole"):
    """bare.whole: one row per id."""

    layout = type(Latest.layout)(scope=recompute_keys(at="at"))


def doubled(events: DataFrame) -> DataFrame:
    return latest_of(events).unionAll(latest_of(events).where("id = 'a'"))


def test_a_key_that_stands_and_is_given_twice_is_held_too(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", amount=2))
    advance(lake, table_asset(Whole, latest_of, events=EVENTS))
    add(lake, EVENTS, event(2, "a", 1, amount=4))
    with pytest.raises(Held, match="the transform gave one key 4 rows"):
        advance(lake, table_asset(Whole, doubled, events=EVENTS))
    assert ids("bare.whole") == ["a"]


def test_a_batch_that_gives_a_key_twice_is_held_until_new_code_tries_again(lake: Lake) -> None:
    good = table_asset(Whole, latest_of, events=EVENTS)
    bad = table_asset(Whole, doubled, events=EVENTS)
    add(lake, EVENTS, event(1, "z"))
    advance(lake, good)
    add(lake, EVENTS, event(2, "a"), event(3, "b"))
    with pytest.raises(Held) as first:
        advance(lake, bad)
    held = lake.catalog.head("bare.whole").held
    assert held is not None and held.why == "the transform gave one key 2 rows"
    branch = held.branch
    for part in ("bare.whole", "batch 2", held.why, branch, "lakehouse release"):
        assert part in str(first.value) and part in held.told("bare.whole")
    assert branch.startswith("failed_") and ids("bare.whole") == ["z"]
    kept = lake.spark.table(f"lake.bare.whole.branch_{branch}")
    assert sorted(r["id"] for r in kept.collect()) == ["a", "a", "b", "z"]

    snapshots = len(lake.catalog.load("bare.whole").metadata.snapshots)
    with pytest.raises(Held, match=r"held since.*lakehouse release bare\.whole"):
        advance(lake, bad)
    assert len(lake.catalog.load("bare.whole").metadata.snapshots) == snapshots, "tried in vain"

    with pytest.raises(Held):
        advance(lake, bad, anew=True)
    again = lake.catalog.head("bare.whole").held
    assert again is not None and (again.since, again.branch != branch) == (held.since, True)
    advance(lake, good)
    assert ids("bare.whole") == ["a", "b", "z"]
    assert lake.catalog.head("bare.whole").held is None
    assert HOLD not in lake.catalog.load("bare.whole").properties


def test_a_released_batch_leaves_no_word_behind(lake: Lake) -> None:
    bad = table_asset(Whole, doubled, events=EVENTS)
    add(lake, EVENTS, event(1, "a"))
    for _ in range(2):
        with pytest.raises(Held, match="nothing was published"):
            advance(lake, bad)
        held = lake.catalog.head("bare.whole").held
        assert held is not None
        lake.catalog.drop_branches("bare.whole", [held.branch])
        assert lake.catalog.head("bare.whole").held is None
        assert HOLD not in lake.catalog.load("bare.whole").properties


def test_bad_rows_never_hold_a_batch(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a", amount=-5), event(2, None), event(3, "b", amount=101))
    outcome = advance(lake, LATEST)
    assert outcome.tally is not None
    assert outcome.tally["failed"] == {
        "id_present": 1, "at_present": 0, "amount_not_negative": 1, "amount_at_most_100": 1,
        "even": 2,
    }  # fmt: skip
