"""What a person orders on a raw table: accepting a gap, replaying records that were set aside."""

from uuid import uuid4

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import DataFrame

from lakehouse_assets.commands.repair import accept_gap, replay
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Table, column, newest
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable, raw_table, table_asset
from lakehouse_assets.topics.kafka import Kafka, hour_of, now
from lakehouse_assets.topics.position import RecordsLost, find_gap
from lakehouse_assets_tests.support import fresh_topic, stored
from lakehouse_assets_tests.topics.records import Notes, admin, make_topic, notes, send


class Mended(RawTable, name="raw.notes"):
    """raw.notes after a fix: counts are wider, and `mood` is known."""

    id = Notes.columns["id"]
    amount = Notes.columns["amount"]
    count = column("bigint", "How many.")
    made_at = Notes.columns["made_at"]
    tags = Notes.columns["tags"]
    mood = column("string", "How it was meant.", nullable=True)


class Deeper(RawTable, name="raw.notes"):
    """raw.notes after its objects were looked at: tags have a size and an origin."""

    id = Notes.columns["id"]
    amount = Notes.columns["amount"]
    count = Notes.columns["count"]
    made_at = Notes.columns["made_at"]
    tags = column(
        "struct<colour:string,size:int,shape:string,origin:struct<city:string>>", "What it is like."
    )


class Sizes(Table, name="bare.sizes"):
    """bare.sizes: one row per note with tags."""

    id = column("string", "Whose note.", key=True)
    size = column("int", "Of its tags.", nullable=True)
    made_at = column("timestamp", "When, UTC.")
    layout = Layout(scope=newest(by="made_at", at="made_at"))


class Newest(Table, name="bare.newest_notes"):
    """bare.newest_notes: one row per id."""

    id = column("string", "Whose note.", key=True)
    count = column("bigint", "How many.", nullable=True)
    made_at = column("timestamp", "When, UTC.")
    layout = Layout(scope=newest(by="made_at", at="made_at"))


def newest_of(raw: DataFrame) -> DataFrame:
    good = raw.where("_error is null")
    return good.selectExpr("id", "cast(count as bigint) as count", "made_at")


def note(id: str, count: int, more: str = "") -> bytes:
    return f'{{"id":"{id}","count":{count},"made_at":"2024-03-01T00:00:00Z"{more}}}'.encode()


@pytest.fixture
def topic(lake: Lake) -> str:
    return make_topic(f"notes-{uuid4().hex[:8]}")


def bring_up(lake: Lake, *tables: LakeTable) -> None:
    for table in tables:
        advance(lake, table, hour_of(now()) if table.topic else None)


def test_a_replay_after_a_fix_stores_each_record_once_under_its_identity(
    lake: Lake, topic: str
) -> None:
    before, after = notes(topic), raw_table(Mended, topic=topic, group="bare")
    child = table_asset(Newest, newest_of, raw=after)
    send(topic, note("good", 1), note("wide", 3_000_000_000), b"<html>", None)
    send(topic, note("more", 4, ',"mood":"glad"'))
    bring_up(lake, before)
    assert [r["_error"] for r in by_offset()] == [
        None,
        "wrong type",
        "malformed",
        "null value",
        None,
    ]
    bring_up(lake, child)
    assert {r["id"] for r in stored(child.name)} == {"good", "more"}

    done = replay(lake, after)

    assert done is not None and (done.stored, done.removed) == (2, 2)
    found = by_offset()
    assert [r["kafka_offset"] for r in found] == [0, 1, 2, 3, 4]
    assert [r["_error"] for r in found] == [None, None, "malformed", "null value", None]
    assert (found[1]["id"], found[1]["count"], found[4]["mood"]) == ("wide", 3_000_000_000, "glad")
    assert [r["_commit"] for r in found] == [1, 2, 1, 1, 2]  # only they are news to the children
    assert [r["_payload"] is None for r in found] == [True, True, False, True, True]
    assert done.tally["failed"]["parses"] == 2 and done.tally["rows"] == 5
    bring_up(lake, child)
    assert {r["id"] for r in stored(child.name)} == {"good", "wide", "more"}
    assert replay(lake, after) is None  # nothing left that could change


def test_a_member_declared_after_it_came_is_replayed_into_its_column(
    lake: Lake, topic: str
) -> None:
    before, after = notes(topic), raw_table(Deeper, topic=topic, group="bare")
    sizes = table_asset(Sizes, sizes_of, raw=after)
    send(topic, note("none", 1), tagged("plain", '"colour":"red","shape":"dot"'))
    send(topic, tagged("sized", '"colour":"red","size":3,"shape":"dot"'))
    send(topic, tagged("from", '"colour":"blue","origin":{"city":"Ulm","zip":"89073"}'))
    bring_up(lake, before)
    assert [r["_payload"] is None for r in by_offset()] == [True, True, False, False]
    lake.catalog.ensure(Deeper)
    bring_up(lake, sizes)  # reads a snapshot that is older than the member
    assert {r["id"]: r["size"] for r in stored(sizes.name)} == {"plain": None, "sized": None,
                                                                "from": None}  # fmt: skip
    done = replay(lake, after)

    assert done is not None and (done.stored, done.removed) == (2, 2)
    tags = {"colour": "red", "size": None, "shape": "dot", "origin": None}
    assert [r["tags"] for r in by_offset()] == [
        None, tags, tags | {"size": 3},
        tags | {"colour": "blue", "shape": None, "origin": {"city": "Ulm"}},
    ]  # fmt: skip
    assert [r["_payload"] is None for r in by_offset()] == [True, True, True, False]
    send(topic, tagged("new", '"colour":"red","size":5,"shape":"dot","origin":null'))
    bring_up(lake, after)
    bring_up(lake, sizes)
    assert {r["id"]: r["size"] for r in stored(sizes.name)} == {
        "plain": None, "sized": 3, "from": None, "new": 5,
    }  # fmt: skip
    assert replay(lake, after) is None


def tagged(id: str, tags: str) -> bytes:
    return note(id, 1, f',"tags":{{{tags}}}')


def sizes_of(raw: DataFrame) -> DataFrame:
    return raw.where("tags is not null").selectExpr("id", "tags.size as size", "made_at")


def by_offset() -> list[dict[str, object]]:
    columns = [*Mended.columns, "_commit"]
    return sorted(
        stored(Notes.name, *columns), key=lambda r: (r["topic_generation"], r["kafka_offset"])
    )


def test_a_topic_made_anew_is_read_on_only_after_its_gap_was_accepted(
    lake: Lake, topic: str
) -> None:
    table = notes(topic)
    child = table_asset(Newest, newest_of, raw=table)
    send(topic, note("a", 1), note("b", 2))
    bring_up(lake, table, child)
    assert find_gap(lake.catalog.head(table.name), Kafka().topic(topic)) is None
    assert accept_gap(lake, table) is None
    fresh_topic(topic)
    make_topic(topic)
    send(topic, note("c", 3))
    with pytest.raises(RecordsLost, match="accept-gap raw"):
        bring_up(lake, table)

    gap = accept_gap(lake, table)

    assert gap is not None and gap.generation == 1 and gap.following == {0: 0}
    assert "from partition 0: 2 on is gone" in gap.told()
    bring_up(lake, table, child)
    found = [(r["topic_generation"], r["kafka_offset"], r["id"]) for r in by_offset()]
    assert found == [(0, 0, "a"), (0, 1, "b"), (1, 0, "c")]
    assert {r["id"] for r in stored(child.name)} == {"a", "b", "c"}
    head = lake.catalog.head(table.name)
    assert head.stamp.progress["generation"] == 1
    assert head.tallies[0]["rows"] == 3  # the hour's counts go on


def test_records_lost_to_retention_are_named_and_given_up_exactly(lake: Lake, topic: str) -> None:
    table = notes(topic)
    send(topic, note("a", 1))
    bring_up(lake, table)
    send(topic, note("b", 2), note("c", 3), note("d", 4))
    kafka = admin()
    kafka.delete_records([TopicPartition(topic, 0, 3)])[TopicPartition(topic, 0)].result(10)
    with pytest.raises(RecordsLost, match="partition 0: 1 to 2"):
        bring_up(lake, table)

    gap = accept_gap(lake, table)

    assert gap is not None and gap.following == {0: 3}
    assert "2 records" in gap.told() and "partition 0: 1 to 2" in gap.told()
    bring_up(lake, table)
    assert [r["id"] for r in by_offset()] == ["a", "d"]
    assert accept_gap(lake, table) is None
