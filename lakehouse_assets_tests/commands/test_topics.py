"""`lakehouse topics list|describe|lag`: what is in Kafka, and what the tables have of it."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.catalog import STAMP, Catalog
from lakehouse_assets.lake.head import Stamp
from lakehouse_assets.topics.kafka import Kafka
from lakehouse_assets.topics.position import progress
from lakehouse_assets_tests.commands.looking import (
    CHANGE,
    made,
    objects,
    refused,
    register,
    said,
    texts,
)
from lakehouse_assets_tests.support import fresh_topic, lake_in
from lakehouse_assets_tests.topics.records import send

RAW = "raw.payment_charges"


def taken(topic: str) -> None:
    """The raw table's newest commit says that it has all of the topic, as one of Spark's would."""
    catalog, now = Catalog(), Kafka().topic(topic)
    catalog.ensure(tables()[RAW].contract)
    stamp = Stamp(commit=1, epoch=1, progress=progress(now, 0, now.latest))
    table = catalog.load(RAW)
    nothing = table.schema().as_arrow().empty_table()
    table.append(nothing, snapshot_properties={STAMP: json.dumps(asdict(stamp))})


def test_a_list_tells_how_topics_are_kept_and_who_reads_them(topic: str, charges: str) -> None:
    send(charges, *texts(1, 2, 3))
    found = {one["topic"]: one for one in objects("list")}
    assert found[charges] | {"bytes": 0} == {
        "topic": charges, "partitions": 2, "records": 3, "bytes": 0, "cleanup_policy": "delete",
        "retention_ms": 7_200_000, "clock": "Kafka's", "format": "json",
        "tables": ["raw.payment_charges"],
    }  # fmt: skip
    assert found[charges]["bytes"] > 0 and found[topic]["tables"] == []
    assert not [name for name in found if name.startswith("__")]
    own = made("__own.looked.at")
    assert own not in (shown := said("topics", "list")) and "2 h" in shown
    assert own in said("topics", "list", "--all")
    fresh_topic(own)


def test_describe_tells_partitions_settings_and_the_newest_schema(
    topic: str, registry: None
) -> None:
    number = register(f"{topic}-value", CHANGE)
    send(topic, b"1", b"2", partition=1)
    (found,) = objects("describe", topic)
    assert found["partitions"]["1"] == {"begin": 0, "end": 2, "leader": 1, "replicas": [1],
                                        "in_sync": [1]}  # fmt: skip
    assert found["settings"]["retention.ms"] == "7200000"
    assert found["schema"] == {
        "subject": f"{topic}-value", "id": number, "version": 1, "compatibility": "BACKWARD",
        "fields": {"before": "as after, optional", "after.id": "bigint", "op": "string",
                   "after.total": "decimal(12,2)", "after.note": "string, optional"},
    }  # fmt: skip
    assert "after.total: decimal(12,2)" in said("topics", "describe", topic)


def test_lag_is_what_the_table_has_not_taken_and_since_when_it_waits(
    charges: str, empty_lake: Path
) -> None:
    send(charges, *texts(1, 2))
    (before, total) = objects("lag", charges)
    assert (before["lag"], before["note"], total["lag"]) == (2, "not made yet", 2)
    taken(charges)
    assert objects("lag", charges)[0]["oldest_s"] is None
    send(charges, *texts(3, 4, 5), partition=1)
    (after, _) = objects("lag", charges)
    assert after["partitions"]["0"] == {"taken": 2, "end": 2, "lag": 0, "oldest_s": None}
    assert (after["partitions"]["1"]["lag"], after["note"]) == (3, "")
    assert 0 <= after["oldest_s"] < 60
    made(charges)
    assert "created anew" in objects("lag", charges)[0]["note"]
    assert "not taken yet" in said("topics", "lag")


def test_a_mistake_is_told_with_what_there_is(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"Did you mean {topic}" in refused("topics", "peek", topic[:-1])
    assert f"Did you mean {topic}" in refused("topics", "describe", topic[:-1])
    peek = ("topics", "peek", topic)
    assert "has no partition 7: it has 0 to 1" in refused(*peek, "--partition", "7")
    assert "say --partition" in refused(*peek, "--offset", "7")
    assert "is no instant" in refused(*peek, "--since", "yesterday")
    assert "one of --last and --since" in refused(*peek, "--last", "1", "--since", "2026-01-01")
    assert "is read by no table" in refused("topics", "lag", topic)
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    assert "LAKEHOUSE_KAFKA=127.0.0.1:1" in refused("topics", "list")
    with lake_in(tmp_path / "nothing runs here"):
        assert "lakehouse up kafka" in refused(*peek)
