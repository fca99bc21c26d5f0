"""Which records are read: hours in order, topics that change, transactions, what Kafka lost."""

import time
from datetime import datetime, timedelta

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions

from lakehouse_assets.lake import ingest as ingesting
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.ingest import NotInOrder
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.topics.kafka import Kafka, KafkaDown, hour_of, now
from lakehouse_assets.topics.position import RecordsLost
from lakehouse_assets_tests.lake.tables import HOUR, Row
from lakehouse_assets_tests.support import fresh_topic, stored
from lakehouse_assets_tests.topics.records import (
    KeyedNotes,
    admin,
    ingest,
    make_topic,
    notes,
    producer,
    send,
)


def test_a_null_value_on_a_keyed_topic_is_a_row_and_no_error(lake: Lake) -> None:
    topic = make_topic("ingest_tombstone")
    send(topic, b'{"id":"a"}', None, key="a")
    ingest(lake, notes(topic, KeyedNotes))
    columns = ("id", "kafka_key", "is_deletion", "_error")
    assert [tuple(r[c] for c in columns) for r in by_offset(*columns)] == [
        ("a", "a", False, None), (None, "a", True, None),
    ]  # fmt: skip


def by_offset(*columns: str) -> list[Row]:
    found = stored("raw.notes", "kafka_partition", "kafka_offset", *columns)
    return sorted(found, key=lambda r: (r["kafka_partition"], r["kafka_offset"]))


def offsets() -> list[tuple[int, int]]:
    return [(r["kafka_partition"], r["kafka_offset"]) for r in by_offset()]


# --- hours


@pytest.fixture
def three_hours(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """Two closed hours and the open one; the first of them is the lake's first."""
    while now().minute == 59 and now().second > 30:
        time.sleep(1)  # the open hour must stay open for a moment
    hours = [hour_of(now()) + n * HOUR for n in (-2, -1, 0)]
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{hours[0]:%Y-%m-%d-%H:%M}")
    return hours


def test_hours_are_cut_by_arrival_and_taken_in_order(
    lake: Lake, three_hours: list[datetime]
) -> None:
    topic = make_topic("ingest_hours", timestamps="producer")
    table, (first, second, third) = notes(topic), three_hours
    long_ago = first - timedelta(days=400)
    send(topic, b'{"id":"oldest"}', at=long_ago)
    send(topic, b'{"id":"1"}', at=first + timedelta(minutes=59))
    send(topic, b'{"id":"2"}', at=second)
    send(topic, b'{"id":"2, late"}', at=first)  # behind a record of the next hour: that hour's
    send(topic, b'{"id":"future"}', at=third + timedelta(days=27_000))
    send(topic, b'{"id":"behind it"}', at=second)
    with pytest.raises(NotInOrder, match=rf"hour {first:%Y-%m-%d-%H:%M} has unread records"):
        advance(lake, table, second)
    for hour in three_hours:
        advance(lake, table, hour)
    assert [(r["id"], r["ingest_hour"]) for r in by_offset("id", "ingest_hour")] == [
        ("oldest", first), ("1", first), ("2", second), ("2, late", second), ("future", third),
        ("behind it", third),
    ]  # fmt: skip
    send(topic, b'{"id":"more"}', at=third)
    advance(lake, table, third)
    assert len(offsets()) == 7


def test_an_hour_without_records_makes_no_commit(lake: Lake, three_hours: list[datetime]) -> None:
    topic = make_topic("ingest_no_records", timestamps="producer")
    assert advance(lake, notes(topic), three_hours[0]).published == []
    send(topic, b'{"id":"a"}', at=three_hours[2])
    assert advance(lake, notes(topic), three_hours[1]).published == []
    assert lake.catalog.head("raw.notes").stamp.commit == 0


def test_a_topic_that_does_not_exist_yet_is_nothing_new(lake: Lake) -> None:
    outcome = advance(lake, notes("ingest_nowhere"), hour_of(now()))
    assert (outcome.published, outcome.note) == ([], "topic ingest_nowhere does not exist yet")


def test_an_hour_made_anew_has_the_same_rows_and_children_see_them_as_news(
    lake: Lake, three_hours: list[datetime]
) -> None:
    topic = make_topic("ingest_anew", timestamps="producer")
    table, (first, second, _) = notes(topic), three_hours
    send(topic, b'{"id":"a"}', b"bad", at=first)
    send(topic, b'{"id":"b"}', at=second)
    for hour in (first, second):
        advance(lake, table, hour)
    before = by_offset("id", "_error", "_payload", "ingest_hour", "arrived_at")
    (published,) = advance(lake, table, first, anew=True).published
    assert by_offset("id", "_error", "_payload", "ingest_hour", "arrived_at") == before
    assert [r[COMMIT] for r in by_offset(COMMIT)] == [3, 3, 2]
    assert (published.tally["rows"], published.tally["failed"]) == (2, {"parses": 1})
    assert lake.catalog.head("raw.notes").stamp.progress["next"] == {"0": 3}
    assert lake.catalog.head("raw.notes").rows == 3


def test_more_records_than_one_batch_takes_are_several_commits_of_one_hour(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, three_hours: list[datetime]
) -> None:
    topic = make_topic("ingest_capped", timestamps="producer")
    send(topic, *[b'{"id":"%d"}' % n if n % 2 else b"bad" for n in range(5)], at=three_hours[0])
    monkeypatch.setattr(ingesting, "MAX_RECORDS", 2)
    outcome = advance(lake, notes(topic), three_hours[0])
    assert [p.stored for p in outcome.published] == [2, 2, 1]
    assert outcome.tally is not None
    assert (outcome.tally["rows"], outcome.tally["failed"]) == (5, {"parses": 3})
    assert [r["kafka_offset"] for r in by_offset()] == [0, 1, 2, 3, 4]


# --- topics that change


def test_records_that_kafka_dropped_before_they_were_read_are_named(lake: Lake) -> None:
    topic = make_topic("ingest_retention")
    send(topic, b'{"id":"0"}', b'{"id":"1"}')
    ingest(lake, notes(topic))
    send(topic, *[b'{"id":"%d"}' % n for n in range(2, 6)])
    drop_before(topic, 5)
    with pytest.raises(RecordsLost) as lost:
        ingest(lake, notes(topic))
    for part in ("raw.notes", "partition 0: 2 to 4", "accept-gap raw.notes", "retention"):
        assert part in str(lost.value)
    assert offsets() == [(0, 0), (0, 1)]


def drop_before(topic: str, offset: int) -> None:
    client = admin()
    wanted = TopicPartition(topic, 0, offset)
    client.delete_records([wanted])[wanted].result(10)


def test_an_hour_that_kafka_no_longer_has_is_not_made_anew_and_stays_as_it_is(
    lake: Lake, three_hours: list[datetime]
) -> None:
    topic = make_topic("ingest_dropped", timestamps="producer")
    send(topic, b'{"id":"0"}', b'{"id":"1"}', at=three_hours[2])
    advance(lake, notes(topic), three_hours[2])
    drop_before(topic, 1)
    head = lake.catalog.head("raw.notes")
    with pytest.raises(RecordsLost, match="the stored rows are untouched"):
        advance(lake, notes(topic), three_hours[2], anew=True)
    assert lake.catalog.head("raw.notes") == head and offsets() == [(0, 0), (0, 1)]


def test_a_topic_that_was_deleted_and_made_again_is_another_topic(lake: Lake) -> None:
    topic = make_topic("ingest_recreated")
    send(topic, b'{"id":"0"}', b'{"id":"1"}')
    ingest(lake, notes(topic))
    fresh_topic(topic)
    make_topic(topic)
    send(topic, *[b'{"id":"new"}'] * 3)
    with pytest.raises(RecordsLost, match=r"created again.*partition 0: 2.*accept-gap"):
        ingest(lake, notes(topic))
    assert [r["id"] for r in by_offset("id")] == ["0", "1"]


def test_partitions_added_to_a_live_topic_are_read_from_their_beginning(lake: Lake) -> None:
    topic = make_topic("ingest_partitions")
    send(topic, b'{"id":"0"}')
    ingest(lake, notes(topic))
    client = admin()
    client.create_partitions([NewPartitions(topic, 3)])[topic].result(10)
    deadline = time.monotonic() + 20
    while len(client.list_topics(topic, timeout=10).topics[topic].partitions) < 3:
        assert time.monotonic() < deadline
    send(topic, b'{"id":"1"}', partition=2)
    send(topic, b'{"id":"2"}', partition=0)
    ingest(lake, notes(topic))
    assert offsets() == [(0, 0), (0, 1), (2, 0)]
    assert lake.catalog.head("raw.notes").stamp.progress["next"] == {"0": 2, "1": 0, "2": 1}


# --- transactions


def transact(topic: str, *values: bytes, commit: bool) -> None:
    sender = producer(**{"transactional.id": topic})
    sender.init_transactions(20)
    sender.begin_transaction()
    for value in values:
        sender.produce(topic, value)
    sender.flush(20)
    (sender.commit_transaction if commit else sender.abort_transaction)(20)


def test_aborted_records_and_markers_are_gaps_neither_lost_nor_counted(lake: Lake) -> None:
    topic = make_topic("ingest_transactions")
    transact(topic, b'{"id":"0"}', b'{"id":"1"}', commit=True)  # 0, 1 and the marker 2
    transact(topic, b'{"id":"aborted"}', commit=False)  # 3 and the marker 4
    transact(topic, b'{"id":"5"}', commit=True)  # 5 and the marker 6
    outcome = ingest(lake, notes(topic))
    assert [r["id"] for r in by_offset("id")] == ["0", "1", "5"]
    assert [p.stored for p in outcome.published] == [3]
    assert lake.catalog.head("raw.notes").stamp.progress["next"] == {"0": 7}
    transact(topic, b'{"id":"aborted"}', commit=False)
    (nothing,) = ingest(lake, notes(topic)).published
    assert (nothing.stored, nothing.stamp.progress["next"]) == (0, {"0": 9})
    assert ingest(lake, notes(topic)).published == []


def test_an_open_transaction_is_read_when_it_is_over(lake: Lake) -> None:
    topic = make_topic("ingest_open")
    sender = producer(**{"transactional.id": topic})
    sender.init_transactions(20)
    sender.begin_transaction()
    sender.produce(topic, b'{"id":"0"}')
    sender.flush(20)
    assert ingest(lake, notes(topic)).published == []
    sender.commit_transaction(20)
    ingest(lake, notes(topic))
    assert offsets() == [(0, 0)]


def test_kafka_that_is_down_says_where_it_was_looked_for_and_how_to_start_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lakehouse_assets.topics.kafka.TIMEOUT_S", 1)
    with pytest.raises(KafkaDown, match=r"127\.0\.0\.1:1 .*lakehouse up.*LAKEHOUSE_KAFKA"):
        Kafka("127.0.0.1:1").topic("x")


def test_progress_is_the_tables_own_and_never_a_consumer_group(lake: Lake) -> None:
    topic = make_topic("ingest_group")
    send(topic, b'{"id":"0"}')
    ingest(lake, notes(topic))
    client = admin()
    assert [g.group_id for g in client.list_consumer_groups().result(10).valid] == []
