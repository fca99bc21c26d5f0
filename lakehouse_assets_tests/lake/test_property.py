"""Promise 3 on bare tables: any schedule of increments gives the rows that a rebuild gives."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.lake import news
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import (
    BY_SUM,
    DAILY,
    EVENTS,
    GREATEST,
    HOUR,
    LATEST,
    OVERALL,
    PEERS,
    STEPS,
    TOTALS,
    Row,
    add,
    day,
    event,
    own_lake,
)
from lakehouse_assets_tests.support import stored

CHILDREN: tuple[LakeTable, ...] = (LATEST, TOTALS, DAILY, OVERALL, STEPS, PEERS, BY_SUM, GREATEST)
IDS = {"a": day(1), "b": day(1) + 23 * HOUR, "c": day(2), "d": day(40), "timeless": None}

Draw = tuple[str, int | None, int, int]
EVENT = st.tuples(
    st.sampled_from(list(IDS)),
    st.none() | st.integers(0, 2),
    st.sampled_from([-4, 0, 3, 6]),
    st.integers(0, 3),
)
# A batch: its rows, whether its commit says where they lie, which children read it at once.
BATCH = st.tuples(
    st.lists(EVENT, min_size=1, max_size=4), st.booleans(), st.sets(st.integers(0, 7), max_size=4)
)


@pytest.fixture(scope="module")
def shared(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with own_lake(tmp_path_factory.mktemp("property")) as lake:
        yield lake


def as_event(seq: int, drawn: Draw) -> Row:
    id, version, amount, arrived = drawn
    return event(seq, id, 0, amount, at=IDS[id], arrived_at=day(50) + arrived * HOUR) | {
        "version": version
    }


@pytest.fixture(params=[news.SMALL, 0], ids=["few rows", "many rows"])
def bound(request: pytest.FixtureRequest) -> Iterator[int]:
    """Many rows go other ways: compiled, and their keys are not fetched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(news, "SMALL", request.param)
        yield request.param


@given(batches=st.lists(BATCH, min_size=2, max_size=3))
@settings(
    max_examples=3, derandomize=True, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
def test_any_schedule_of_increments_gives_the_rows_of_a_rebuild(
    shared: Lake, bound: int, batches: list[tuple[list[Draw], bool, set[int]]]
) -> None:
    """The lake goes on from example to example, so that schedules also meet old rows."""
    seq = shared.catalog.head(EVENTS.name).rows if shared.catalog.exists(EVENTS.name) else 0
    for drawn, stated, eager in batches:
        given_rows = [as_event(seq + n, d) for n, d in enumerate(drawn)]
        seq += len(given_rows)
        add(shared, EVENTS, *given_rows, stated=stated)
        for n in sorted(eager):
            advance(shared, CHILDREN[n])
    increments: dict[str, list[dict[str, Any]]] = {}
    for table in CHILDREN:
        advance(shared, table)
        increments[table.name] = stored(table.name)
    for table in CHILDREN:  # only now: a parent's rebuild would have its child look at everything
        rebuild(shared, table)
        assert increments[table.name] == stored(table.name), table.name
