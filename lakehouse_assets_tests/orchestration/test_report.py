"""What Dagster is told of a table that is looked at, or of a range of hours."""

from collections.abc import Iterator
from uuid import uuid4

import dagster as dg
import pytest

from lakehouse_assets.lake.kafka import now
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration import report
from lakehouse_assets.orchestration.names import HELD
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets_tests.lake.tables import ingest, make_topic, notes, send
from lakehouse_assets_tests.support import fresh_topic

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
    assert passed and "cannot be told" in why
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
