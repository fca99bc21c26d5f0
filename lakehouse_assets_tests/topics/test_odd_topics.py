"""Topics at their worst: nested surprises, offsets that went back, compaction."""

from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.topics.kafka import Topic, hour_of, now
from lakehouse_assets.topics.position import RecordsLost, find_gap, position
from lakehouse_assets_tests.support import stored
from lakehouse_assets_tests.topics.records import admin, make_topic, notes, send

# --- Kafka


def raw(lake: Lake, topic: str, contract: type[RawTable] | None = None) -> list[dict[str, Any]]:
    table = raw_table(contract, topic=topic, group="bare") if contract else notes(topic)
    advance(lake, table, hour_of(now()))
    rows = lake.at(lake.catalog.head(table.name)).orderBy("kafka_offset").collect()
    return [r.asDict(recursive=True) for r in rows]


def test_two_objects_in_one_record_are_malformed(lake: Lake) -> None:
    topic = make_topic("found_two_objects")
    send(topic, b'{"id": "a"} {"id": "b"}', b'{"id": "a"} rubbish')
    assert [r["_error"] for r in raw(lake, topic)] == ["malformed", "malformed"]


class Boxes(RawTable, name="raw.boxes"):
    """raw.boxes: one row per record."""

    id = column("string", "Whose.")
    box = column("struct<n:int,s:string>", "Not only texts.")
    list = column("array<struct<n:int>>", "Several.")


def test_an_unknown_field_inside_an_object_of_numbers_keeps_the_payload(lake: Lake) -> None:
    topic = make_topic("found_nested")
    send(topic, b'{"id": "a", "box": {"n": 1, "s": "x", "new": 2}}')
    assert raw(lake, topic, Boxes)[0]["_payload"] is not None


def test_a_timestamp_that_overflows_is_an_error_not_another_time(lake: Lake) -> None:
    topic = make_topic("found_overflow")
    send(topic, b'{"id": "a", "made_at": 1700000000000000}')
    (row,) = raw(lake, topic)
    assert row["_error"] == "wrong type", row


def test_offsets_that_went_back_are_a_loss() -> None:
    stamp = Stamp(1, 1, {"topic_id": "x", "generation": 0, "next": {"0": 10}})
    topic = Topic("t", "x", {0: 0}, {0: 5})
    head = Head("raw.t", 1, stamp, 10, 0)
    with pytest.raises(RecordsLost, match="partition 0: 10 was next"):
        position(head, topic)
    gap = find_gap(head, topic)
    assert gap is not None and (gap.generation, gap.following) == (1, {0: 5})


def test_an_hours_tally_survives_work_on_another_hour(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, hour = make_topic("found_tally", timestamps="producer"), hour_of(now())
    before = hour - timedelta(hours=1)
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{before:%Y-%m-%d-%H:%M}")
    send(topic, b'{"id": "a"}', at=before)
    send(topic, b"bad", at=hour)
    for h in (before, hour):
        advance(lake, notes(topic), h)
    advance(lake, notes(topic), before, anew=True)
    send(topic, b'{"id": "b"}', at=hour)
    tally = advance(lake, notes(topic), hour).tally
    assert tally is not None and (tally["rows"], tally["failed"]["parses"]) == (2, 1)


def test_an_hour_that_was_compacted_is_not_rebuilt_from_what_is_left(lake: Lake) -> None:
    import time

    topic = make_topic("found_compacted", segment_ms="200")
    for n in range(4):
        send(topic, b'{"id": "a", "count": %d}' % n, key="a")
        time.sleep(0.4)
    table = notes(topic)
    advance(lake, table, hour_of(now()))
    assert len(stored("raw.notes")) == 4
    _compact(topic)  # only now: it must not come first
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _visible(topic) == 4:
        time.sleep(0.5)
        send(topic, b'{"id": "b"}', key="b")
    assert _visible(topic) < 4
    with pytest.raises(RecordsLost):
        advance(lake, table, hour_of(now()), anew=True)
    assert len(stored("raw.notes")) == 4


def _compact(topic: str) -> None:
    wanted = {
        "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "200", "min.compaction.lag.ms": "0",
    }  # fmt: skip
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in wanted.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    client = admin()
    client.incremental_alter_configs([resource])[resource].result(10)


def _visible(topic: str) -> int:
    """How many of the four records are left; compaction leaves gaps."""
    return sum(record.offset < 4 for record in read_back([topic]))
