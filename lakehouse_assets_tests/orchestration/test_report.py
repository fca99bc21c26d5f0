"""What Dagster is told of a table that is looked at, or of a range of hours."""

from collections.abc import Iterator
from uuid import uuid4

import dagster as dg
import pytest
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
)

from lakehouse_assets import settings
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration import report
from lakehouse_assets.orchestration.asset import to_asset
from lakehouse_assets.orchestration.names import HELD
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.topics.kafka import HOUR, hour_of, now
from lakehouse_assets_tests.support import fresh_topic
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send

GOOD = b'{"id":"a","count":1,"made_at":"2024-03-01T00:00:00Z"}'


@pytest.fixture
def table() -> LakeTable:
    return notes(make_topic(f"report-{uuid4().hex[:8]}"))


@pytest.fixture
def resource(lake: Lake) -> Iterator[LakeResource]:
    resource = LakeResource()
    yield resource
    resource.lake.close()


def publishes(resource: LakeResource, table: LakeTable) -> tuple[bool, str]:
    """The check executed alone, as the daily job does."""
    (result,) = report.check_only(resource, table, [], [HELD])
    (said,) = (result.metadata or {}).values()
    return result.passed, str(said.value if isinstance(said, dg.MetadataValue) else said)


def test_publishes_is_red_alone_while_unread_records_are_lost(
    resource: LakeResource, lake: Lake, table: LakeTable
) -> None:
    send(table.topic, GOOD)
    ingest(lake, table)
    assert publishes(resource, table) == (True, "nothing is held, nothing was lost")
    fresh_topic(table.topic)
    passed, why = publishes(resource, table)
    assert not passed and f"topic {table.topic} is gone" in why
    make_topic(table.topic)
    passed, why = publishes(resource, table)
    assert not passed and f"`lakehouse accept-gap {table.name}`" in why


def test_publishes_says_so_where_kafka_does_not_answer(
    resource: LakeResource, lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert publishes(resource, table)[0], "never made"
    send(table.topic, GOOD)
    ingest(lake, table)
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    passed, why = publishes(resource, table)
    assert passed and "Kafka does not answer" in why


def test_publishes_is_red_alone_while_a_batch_is_held_and_says_since_when_and_why(
    resource: LakeResource, lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakehouse_assets.lake.judge.problems", lambda *_: ["the test says so"])
    send(table.topic, GOOD)
    with pytest.raises(Held):
        ingest(lake, table)
    passed, why = publishes(resource, table)
    assert not passed
    for part in (f"held since {now():%Y-%m-%d}", "the test says so", "lakehouse release"):
        assert part in why


def test_a_range_of_hours_is_judged_as_one_and_claims_no_count_for_each(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = hour_of(now())
    begin, end = this - 2 * HOUR, this - HOUR
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{begin:{settings.HOUR_FORMAT}}")
    table = notes(make_topic(f"report-{uuid4().hex[:8]}", timestamps="producer"))
    send(table.topic, GOOD, b"rubbish", at=begin)
    send(table.topic, GOOD, at=end)
    span = {ASSET_PARTITION_RANGE_START_TAG: begin, ASSET_PARTITION_RANGE_END_TAG: end}
    run = dg.materialize(
        [to_asset(table, [], {table.name: table})], resources={"lake": LakeResource()},
        tags={tag: f"{hour:{settings.HOUR_FORMAT}}" for tag, hour in span.items()},
    )  # fmt: skip
    made = run.asset_materializations_for_node("raw__notes")
    assert len(made) == 2
    assert not any("dagster/partition_row_count" in m.metadata for m in made)
    given = {e.check_name: e for e in run.get_asset_check_evaluations()}
    judged = given["parses"].metadata
    assert (judged["failed"].value, judged["rows"].value) == (1, 3)
    assert given[HELD].metadata["note"].value == "true of batch 2"
