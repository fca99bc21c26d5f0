"""raw.lineage_events: plain Avro, in folders by its hour, each row with the attempt it is of."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands import compare
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.commands.repair import replay
from lakehouse_assets.commands.topic_records import Reader, spelled
from lakehouse_assets.lake import ingest as ingesting
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage.log import CommitLog
from lakehouse_assets.lineage.trust import trusted
from lakehouse_assets.looks.audit import audit
from lakehouse_assets.metadata.quarantine import quarantine
from lakehouse_assets.raw.lineage_events import LineageEvents, lineage_events
from lakehouse_assets.sources.lineage import FIRST_DAY, PARTITIONS, TOPIC, Dirt, events, truth
from lakehouse_assets.sources.lineage.events import encoded
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.lake.tables import own_lake
from lakehouse_assets_tests.support import (
    broken_rules,
    fresh_topic,
    last_line,
    said,
    same_rows,
    stored,
)
from lakehouse_assets_tests.topics.records import ingest, parsed, producer

NAME = LineageEvents.name
DIRT = Dirt(0.03, 0.04, 0.02)
ID = "5f0c5a7e-3f5d-4d0e-9b7e-0d4f5a6b7c8d"


@pytest.fixture(scope="module")
def lake(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """Filled in three batches; the tests go on from each other."""
    with own_lake(tmp_path_factory.mktemp("lineage") / "a lake") as lake:
        fresh_topic(TOPIC)
        ensure_topic(TOPIC, PARTITIONS)
        for seed in (1, 2, 3):
            produce(events(seed, 150, FIRST_DAY, DIRT))
            ingest(lake, lineage_events)
        yield lake


def differences() -> dict[str, list[str]]:
    found = compare.against_truth(truth, read_back([TOPIC]))
    return {one.table: one.examples for one in found if not one.is_equal}


def test_every_record_is_one_row_as_the_truth_tells(lake: Lake) -> None:
    advance(lake, quarantine)
    assert differences() == {} and len(stored(NAME)) == 450


def test_what_only_looks_like_a_record_is_an_error_with_its_bytes(lake: Lake) -> None:
    whole = encoded(ID, 7)
    values = [whole, None, b"", whole[:-1], whole + b"\0", b"\x01" + whole[1:], encoded("x", 1),
              encoded(ID.upper(), -(2**63)), b"\xff" * 12, encoded("\u00e9" * 18, 1)]  # fmt: skip
    rows = parsed(lake, lineage_events, *values)
    assert [(r["_error"], r["uuid"], r["timestamp"]) for r in rows] == [
        (why, told["uuid"], told["timestamp"]) for why, told in map(truth.parse, values)
    ]
    assert [r["_payload"] for r in rows] == [None, *values[1:7], None, *values[8:]]
    assert {(r["year"], r["month"], r["day"], r["hour"]) for r in rows} == {
        ("2024", "03", "01", "10")
    }


def test_files_lie_in_folders_by_hour_as_text_that_others_read_by_their_paths(lake: Lake) -> None:
    begin = settings.first_hour()
    for one in trusted(lake.catalog, NAME):
        path = Path(one.s3_key).relative_to(Path(lake.catalog.load(NAME).location()) / "data")
        names = [part.split("=") for part in path.parent.parts]
        assert [name for name, _ in names] == ["year", "month", "day", "hour"]
        spelled = [value for _, value in names]
        assert [len(value) for value in spelled] == [4, 2, 2, 2]
        assert datetime(*map(int, spelled), tzinfo=begin.tzinfo) >= begin  # type: ignore[arg-type]
    files = sorted({one.s3_key for one in trusted(lake.catalog, NAME)})
    seen = ds.dataset(files).to_table(["kafka_partition", "kafka_offset", "year"]).to_pylist()
    assert len({(r["kafka_partition"], r["kafka_offset"]) for r in seen}) == 450 == len(seen)


def test_rows_name_their_attempt_and_the_attempt_its_files(lake: Lake) -> None:
    rows = stored(NAME)
    numbers = sorted({r["checkpoint_id"] for r in rows})
    assert numbers == sorted({f.checkpoint_id for f in trusted(lake.catalog, NAME)})
    assert len(numbers) >= 3 and {r["kafka_topic"] for r in rows} == {TOPIC}
    told = last_line(said("lineage", "files", "--checkpoint", str(numbers[-1]), "--json"))
    assert [f["checkpoint_id"] for f in told["files"]] == [numbers[-1]] * len(told["files"])
    mine = ds.dataset([f["s3_key"] for f in told["files"]]).to_table(["checkpoint_id"])
    assert set(mine.column(0).to_pylist()) == {numbers[-1]}
    assert said("lineage", "files").count(".parquet") == len(trusted(lake.catalog, NAME))
    assert CommitLog(NAME).address == told["log"]


def test_an_hour_made_anew_has_the_same_rows_of_a_newer_attempt(lake: Lake) -> None:
    hour, rows = hour_of(now()), stored(NAME)
    (published,) = advance(lake, lineage_events, hour, anew=True).published
    ours = [r for r in rows if r["ingest_hour"] == hour]
    assert published.stored == len(ours) == published.tally["rows"] > 0
    again = stored(NAME)
    newest = max(r["checkpoint_id"] for r in again)
    assert {r["checkpoint_id"] for r in again if r["ingest_hour"] == hour} == {newest}
    same_rows(map(untold, again), map(untold, rows))
    report = audit(lake, lineage_events, [hour])
    assert (report.rows, report.repeated_keys) == (len(ours), 0)
    assert differences() == {}


def untold(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != "checkpoint_id"}


def test_one_batch_and_many_give_the_same_rows(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [*map(untold, stored(NAME))]
    monkeypatch.setattr(ingesting, "MAX_RECORDS", 250)
    with own_lake(tmp_path / "another") as other:
        ingest(other, lineage_events)
        assert len({r["checkpoint_id"] for r in stored(NAME)}) > 1
        same_rows(map(untold, stored(NAME)), rows)


def test_a_replay_that_changes_nothing_is_no_attempt(lake: Lake) -> None:
    before = CommitLog(NAME).last()
    assert replay(lake, lineage_events) is None
    assert CommitLog(NAME).last() == before


def test_its_rule_measures_the_dirt(lake: Lake) -> None:
    assert broken_rules(lake, LineageEvents, {}, {"_error": "malformed"}) == ["", "parses"]


def test_a_large_record_of_another_schema_stops_nothing(lake: Lake) -> None:
    sender = producer()
    sender.produce(TOPIC, b"\xfe\xff\xff\xff\x0f" + b"x" * 5_000_000, partition=3)
    sender.produce(TOPIC, encoded(ID, 7), partition=3)
    assert sender.flush(20) == 0
    ingest(lake, lineage_events)
    assert [r["_error"] for r in rows_after(lake)] == ["malformed", None]


def rows_after(lake: Lake) -> list[dict[str, object]]:
    found = compare.rows_of(NAME)
    commit = lake.catalog.head(NAME).stamp.commit
    return sorted((r for r in found if r["_commit"] == commit), key=lambda r: r["kafka_offset"])


def test_a_record_is_shown_to_people_by_the_same_schema_file() -> None:
    reader = Reader(lineage_events, reveal=False)
    assert json.loads(spelled(reader.read(encoded(ID, 7)).value)) == {"uuid": ID, "timestamp": 7}
    assert "1 bytes too many" in reader.read(encoded(ID, 7) + b"\0").problem
    assert "malformed, by deploy/schemas/" in reader.read(b"\xff" * 12).problem
