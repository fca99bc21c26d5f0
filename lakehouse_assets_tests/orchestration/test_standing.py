"""What a table says of itself as it stands: each look sees what it is for, and only that."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import dagster as dg
import pytest
from pyspark.sql import DataFrame

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake import quality
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.bases import RECORD, RawTable, StagingTable
from lakehouse_assets.lake.contract import Across, Layout, column, newest
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets.looks import standing
from lakehouse_assets.orchestration.names import asset_key
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.standing import standing_checks
from lakehouse_assets.topics.kafka import HOUR, hour_of, now
from lakehouse_assets_tests.lake.tables import Events, add, event
from lakehouse_assets_tests.support import fresh_topic
from lakehouse_assets_tests.topics.records import Notes, ingest, make_topic, notes, send


class StagedNotes(StagingTable, name="staging.stg_notes"):
    """staging.stg_notes: one row per id."""

    id = column("string", "Whose.", key=True)
    count = column("int", "How many.", ge=0, nullable=True)
    made_at = column("timestamp", "When, UTC.")
    layout = Layout(scope=newest(by="count", at="made_at"))


def staged(notes: DataFrame) -> DataFrame:
    return notes.where("_error is null").selectExpr("id", "count", "made_at", "arrived_at", RECORD)


@pytest.fixture
def table() -> LakeTable:
    return notes(make_topic(f"standing-{uuid4().hex[:8]}", timestamps="producer"))


def note(id: str, count: int, more: str = "") -> bytes:
    return f'{{"id":"{id}","count":{count},"made_at":"2024-03-01T00:00:00Z"{more}}}'.encode()


def test_only_unread_records_that_nobody_fetches_make_a_table_late(
    lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    minute = timedelta(minutes=1)
    send(table.topic, note("a", 1), at=now() - 40 * minute)
    ingest(lake, table)
    head = replace(lake.catalog.head(table.name), published_ms=0)  # quiet for long
    assert standing.is_fresh(lake, table, head)[0]
    send(table.topic, note("b", 1), at=now() - 10 * minute)
    fresh, told = standing.is_fresh(lake, table, head)
    assert (fresh, told["unread offsets"]) == (True, 1), "what came just now is not late"
    monkeypatch.setattr(standing, "LATE", 5 * minute)
    assert not standing.is_fresh(lake, table, head)[0]


def looked(table: LakeTable) -> dg.AssetCheckEvaluation:
    """`is_fresh` as the daily job executes it."""
    (checks,) = standing_checks({table.name: table})
    given = dg.Definitions(
        assets=[dg.AssetSpec(asset_key(table.name))], asset_checks=[checks],
        jobs=[dg.define_asset_job("look", dg.AssetSelection.all_asset_checks())],
        resources={"lake": LakeResource()},
    )  # fmt: skip
    done = given.resolve_job_def("look").execute_in_process()
    return next(e for e in done.get_asset_check_evaluations() if e.check_name == "is_fresh")


def test_a_lost_topic_or_no_kafka_is_a_failed_check_and_no_failed_run(
    lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(table.topic, note("a", 1))
    ingest(lake, table)
    assert looked(table).passed
    fresh_topic(table.topic)
    make_topic(table.topic)
    found = looked(table)
    assert not found.passed and "`lakehouse accept-gap raw.notes`" in str(found.metadata["why"])
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    found = looked(table)
    assert not found.passed and "Kafka does not answer" in str(found.metadata["why"])


def test_an_hour_far_from_the_mean_of_those_before_is_unusual(
    lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = hour_of(now()) - HOUR
    begin = last - standing.LEAST_HOURS * HOUR
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{begin:%Y-%m-%d-%H:%M}")
    for back in range(standing.LEAST_HOURS, 0, -1):
        send(table.topic, *[note("a", 1)] * 4, at=last - back * HOUR)
    ingest(lake, table)
    usual, told = standing.volume_is_usual(lake, table, lake.catalog.head(table.name))
    assert (usual, told["rows"], told["usual"]) == (False, 0, 4)
    send(table.topic, note("a", 1), at=last)
    ingest(lake, table)
    assert standing.volume_is_usual(lake, table, lake.catalog.head(table.name))[0]


def test_fields_that_nobody_declared_are_told_by_name(lake: Lake, table: LakeTable) -> None:
    send(table.topic, note("a", 1), b"rubbish", None)
    ingest(lake, table)
    assert standing.has_no_unknown_fields(lake, table, lake.catalog.head(table.name))[0]
    send(table.topic, note("b", 1, ',"mood":"glad"'), note("c", 1, ',"mood":"sad","age":3'))
    ingest(lake, table)
    passed, told = standing.has_no_unknown_fields(lake, table, lake.catalog.head(table.name))
    assert not passed and told["records"] == 2
    assert told["fields"] == {"mood": 2, "age": 1}


class Moody(Notes, name="raw.notes"):
    also = ("mood",)


def test_a_field_that_is_known_and_has_no_column_is_no_drift(lake: Lake, table: LakeTable) -> None:
    table = notes(table.topic, Moody)
    send(table.topic, note("b", 1, ',"mood":"glad"'), note("c", 1, ',"mood":"sad","age":3'))
    ingest(lake, table)
    passed, told = standing.has_no_unknown_fields(lake, table, lake.catalog.head(table.name))
    assert not passed and (told["records"], told["fields"]) == (1, {"age": 1})


class Disputed(RawTable, name="raw.notes"):
    """raw.notes: one row per record, with an object in an object."""

    id = column("string", "Whose note.")
    evidence = column(
        "struct<receipt_id:string,metadata:struct<submitted_by:string>>", "What was handed in."
    )


def test_fields_inside_objects_are_told_by_their_path(lake: Lake, table: LakeTable) -> None:
    table = notes(table.topic, Disputed)
    inner = '"metadata":{"submitted_by":"x","pages":2,"utm source":""}'
    send(
        table.topic,
        b'{"id":"a","evidence":{"receipt_id":"r","metadata":{"submitted_by":"x"}}}',
        b'{"id":"b","evidence":{"receipt_id":"r","colour":{"deep":1},%s}}' % inner.encode(),
        b'{"id":"c","mood":{"deep":1},"evidence":{"metadata":{"pages":1}}}',
        b'{"id":"d","mood":"sad","evidence":{"metadata":null}}',
        b'{"id":"e","mood":"sad","evidence":null}',
    )
    ingest(lake, table)
    passed, told = standing.has_no_unknown_fields(lake, table, lake.catalog.head(table.name))
    assert not passed and told["records"] == 4
    assert told["fields"] == {
        "mood": 3, "evidence.metadata.pages": 2, "evidence.colour": 1,
        "evidence.metadata.utm source": 1,
    }  # fmt: skip


def test_a_record_that_has_no_place_in_staging_is_missed(lake: Lake, table: LakeTable) -> None:
    child = table_asset(StagedNotes, staged, notes=table)
    send(table.topic, note("a", 1), note("a", 2), note("a", 2), note("b", -1), b"rubbish")
    send(table.topic, note("c", 1))
    ingest(lake, table)
    advance(lake, child, hour_of(now()))
    passed, told = standing.reconciles_with_raw(lake, child, lake.catalog.head(child.name))
    assert passed, told
    names = ("raw", "did not parse", "refused", "duplicates and older versions", "staged")
    assert [told[n] for n in names] == [6, 1, 1, 2, 2]
    lake.spark.sql("delete from lake.staging.stg_notes where id = 'c'")
    assert not standing.reconciles_with_raw(lake, child, lake.catalog.head(child.name))[0]


class Counted(StagedNotes, name="staging.stg_notes"):
    of = "coalesce(count > 1, false)"


def test_a_table_of_some_records_answers_for_those_alone(lake: Lake, table: LakeTable) -> None:
    child = table_asset(Counted, lambda notes: staged(notes).where(Counted.of), notes=table)
    send(table.topic, note("a", 1), note("b", 2), note("b", 3), b"rubbish")
    ingest(lake, table)
    advance(lake, child, hour_of(now()))
    passed, told = standing.reconciles_with_raw(lake, child, lake.catalog.head(child.name))
    assert passed and (told["raw"], told["did not parse"], told["staged"]) == (3, 1, 1)


class Watched(Events, name="bare.events"):
    """bare.events: one row per delivery, whose ids should not repeat."""

    id = column("string", "Whose.", pii=True)
    across = (
        Across(
            "ids_once",
            "select id, count(*) as times from bare.events group by id having count(*) > 1",
            "an id is delivered once",
            threshold=0.05,
        ),
    )


def test_what_breaks_a_rule_across_rows_is_counted_and_shown_without_names(lake: Lake) -> None:
    watched = LakeTable(Watched, "bare")
    (look,) = standing.looks_of(watched)
    assert (look.name, look.is_strict) == ("ids_once", False)
    passed, told = standing.found(look, lake, watched)
    assert passed and "no data yet" in told["note"]
    add(lake, watched, *[event(n, id) for n, id in enumerate("aabc")])
    passed, told = standing.found(look, lake, watched)
    assert passed and (told["bad"], told["rows"], told["share"]) == (1, 4, 0.25)
    assert told["examples"] == [{"id": quality.MASK, "times": 2}]
    add(lake, watched, event(4, "b"))
    assert not standing.found(look, lake, watched)[0], "two of five"


def test_a_rule_across_tables_waits_for_the_other_table(lake: Lake) -> None:
    class Alone(Watched, name="bare.events"):
        across = (Across("known", "select * from bare.events anti join bare.gone using (id)", ""),)

    alone = LakeTable(Alone, "bare")
    add(lake, alone, event(1, "a"))
    (look,) = standing.looks_of(alone)
    passed, told = standing.found(look, lake, alone)
    assert passed and look.is_strict and "no data yet" in told["note"]


def test_every_raw_and_staging_table_has_its_looks() -> None:
    checked = {
        k.asset_key.path[-1] for c in standing_checks(tables()) for k in c.check_keys
    }
    assert checked >= {t.name.split(".")[1] for t in tables().values() if t.hourly}
