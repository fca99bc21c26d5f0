"""Webhooks from Kafka to staging, against the simulator's truth, which shares no code with the
engine.
"""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from lakehouse_assets.bench import _lab
from lakehouse_assets.commands.compare import against_truth
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import found, looks_of
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.sources.webhooks import Dirt, requests, truth
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.vendors import TOPICS
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.support import fresh_topic

DIRT = Dirt(
    redelivery=0.05, late=0.05, out_of_order=0.03, stale_order=0.03, unknown_field=0.03,
    off_total=0.02, no_list=0.02, malformed=0.05,
)  # fmt: skip
COUNT, PARTS = 900, 2  # requests, and batches of them


def events(count: int, seed: int = 7) -> list[Event]:
    return list(records(requests(seed, count, now() - timedelta(seconds=count), DIRT)))


def catch_up(lake: Lake) -> None:
    """Also over the turn of an hour."""
    _lab.catch_up(lake, ours("webhooks", "metadata"))


def ours(*groups: str) -> list[LakeTable]:
    return [table for table in tables().values() if table.group in groups]


def check_against_truth() -> None:
    compared = against_truth(truth, read_back(TOPICS))
    assert [(one.table, one.examples) for one in compared if not one.is_equal] == []
    assert [one.table for one in compared if not one.rows] == []


def check_looks(lake: Lake) -> None:
    """Each record has its place, each order its customer; fields that nobody told of are noticed,
    and only those.
    """
    unknown = set[str]()
    for table in ours("webhooks"):
        told = {look.name: found(look, lake, table) for look in looks_of(table)}
        _, drift = told.pop("has_no_unknown_fields", (True, {"fields": {}}))
        unknown |= drift["fields"].keys()
        assert [(name, said) for name, (passed, said) in told.items() if not passed] == []
    assert unknown == {"beta_feature"}


@pytest.fixture(autouse=True)
def topics(lake: Lake) -> Iterator[None]:
    for topic in TOPICS:
        fresh_topic(topic)
        ensure_topic(topic)
    yield
    for topic in TOPICS:  # other tests' tables are made of all topics that are there
        fresh_topic(topic)


def test_one_batch_gives_the_simulators_truth(lake: Lake) -> None:
    produce(events(COUNT))
    catch_up(lake)
    check_against_truth()
    check_looks(lake)


def test_many_shuffled_batches_give_the_truth_and_a_rebuild_changes_nothing(lake: Lake) -> None:
    made = events(COUNT)
    Random(1).shuffle(made)
    for part in range(PARTS):
        produce(made[part::PARTS])
        catch_up(lake)
    check_against_truth()
    for name in [name for name in truth.KEYS if not tables()[name].topic]:
        rebuild(lake, tables()[name])
    check_against_truth()
