"""Rows of a mart led back to Kafka, and the ends that are said where there is no way."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.bench._lab import catch_up
from lakehouse_assets.commands.common import tables
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lineage.trace import Trace, Tracer
from lakehouse_assets.sources.payments import TOPICS, Dirt, payments
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.lake.tables import own_lake
from lakehouse_assets_tests.support import fresh_topic, last_line, refused, said

DAILY = "marts.payments_daily"
Record = tuple[str, int, int]


def chain(name: str) -> list[str]:
    """What a table is made of, and itself."""
    above = [p for parent in tables()[name].parents.values() for p in chain(parent.name)]
    return [*dict.fromkeys(above), name]


@pytest.fixture(scope="module")
def lake(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with own_lake(tmp_path_factory.mktemp("traced") / "a lake") as lake:
        for topic in TOPICS:
            fresh_topic(topic)
            ensure_topic(topic)
        produce(payments(7, 400, now() - timedelta(seconds=400), Dirt(malformed=0.02)))
        catch_up(lake, [tables()[name] for name in chain(DAILY)])
        yield lake


@pytest.fixture(scope="module")
def records(lake: Lake) -> dict[Record, Any]:
    return {(r.topic, r.partition, r.offset): r for r in read_back(TOPICS)}


def told_by(trace: Trace, records: dict[Record, Any]) -> list[dict[str, Any]]:
    """The charges at the places to which a trail leads."""
    found = [t.kafka for t in trace.records() if t.kafka]
    places = [(k["topic"], k["partition"], k["offset"]) for k in found]
    return [json.loads(records[p].value) for p in places if p[0] == "payment_charges"]


def test_every_row_of_a_mart_leads_to_the_records_it_was_made_of(
    lake: Lake, records: dict[Record, Any]
) -> None:
    tracer = Tracer(lake, followed=100)
    traces = tracer.trace(tables()[DAILY], "true", 100)
    assert traces and all(trace.is_traced for trace in traces)
    for trace in traces:
        charges = told_by(trace, records)
        assert {c["provider"].strip().upper() for c in charges} == {trace.key["provider"]}
        days = {datetime.fromisoformat(c["created_at"].replace("Z", "+00:00")).date()
                for c in charges}  # fmt: skip
        assert days == {trace.key["created_on"]}
        assert trace.steps[0].is_exact


def test_a_days_sum_is_the_sum_of_the_rows_to_which_it_leads(lake: Lake) -> None:
    tracer = Tracer(lake, followed=100)
    rows = fetched(tracer.read(tables()[DAILY])).to_pylist()
    for trace, row in zip(tracer.follow(tables()[DAILY], rows), rows, strict=True):
        (step,) = trace.steps
        assert step.rows == row["payments"] == len(step.traces)
        ids = [t.key["charge_id"] for t in step.traces]
        where = " or ".join(f"charge_id = '{one}'" for one in ids)
        theirs = tracer.read(tables()["semantic.payments"]).where(where)
        amounts = [r["amount"] for r in theirs.collect() if r["amount"] is not None]
        assert sum(amounts, Decimal(0)) == (row["amount"] or 0)


def test_a_staging_row_leads_to_its_record_and_says_who_made_it(lake: Lake) -> None:
    table = tables()["staging.stg_payment_charges"]
    tracer = Tracer(lake)
    rows = fetched(tracer.read(table).limit(50)).to_pylist()
    for row, trace in zip(rows, tracer.follow(table, rows), strict=True):
        (step,) = trace.steps
        ((record,), place) = step.traces, row["_record"]
        assert step.is_exact and step.rows == 1 and record.kafka
        assert (record.kafka["partition"], record.kafka["offset"]) == (
            place["kafka_partition"], place["kafka_offset"],
        )  # fmt: skip
        assert trace.commit.run == "test" and trace.commit.code_version == table.code_version()
        assert record.commit.is_known and record.table == "raw.payment_charges"


def test_of_many_rows_some_are_followed_and_all_are_counted(lake: Lake) -> None:
    (trace,) = Tracer(lake, followed=2).trace(tables()[DAILY], "payments > 5", 1)
    (step,) = trace.steps
    assert len(step.traces) == 2 and step.rows > 5


def test_a_batch_whose_snapshot_has_expired_is_only_a_number(lake: Lake) -> None:
    name = "raw.payment_customers"
    (before,) = Tracer(lake).trace(tables()[name], "true", 1)
    assert before.commit.is_known
    catch_up(lake, [tables()[name]])
    lake.catalog.note_care(name, {})
    ensure_more(lake, name)
    call = f"expire_snapshots(table => '{name}', older_than => timestamp'2999-01-01 00:00:00')"
    lake.spark.sql(f"CALL lake.system.{call}").collect()
    (after,) = Tracer(lake).trace(tables()[name], f"_commit = {before.commit.number}", 1)
    assert not after.commit.is_known and after.commit.number == before.commit.number
    assert after.kafka


def ensure_more(lake: Lake, name: str) -> None:
    produce(payments(8, 60, now() - timedelta(seconds=60), only=["payment_customers"]))
    catch_up(lake, [tables()[name]])


def test_where_no_column_leads_on_the_trail_says_so(lake: Lake) -> None:
    catch_up(lake, [tables()[name] for name in chain("metadata.quarantine")])
    for trace in Tracer(lake).trace(tables()["metadata.quarantine"], "true", 3):
        assert trace.steps
        assert all(s.traces or s.ends for s in trace.steps), "an end has a reason"
    catch_up(lake, [tables()["metadata.incremental_watermarks"]])
    (told,) = Tracer(lake).trace(tables()["metadata.incremental_watermarks"], "true", 1)
    assert "made of no rows" in told.ends and not told.is_traced


def test_the_command_shows_the_trail_and_refuses_what_it_does_not_know(lake: Lake) -> None:
    told = last_line(said("trace", DAILY, "--where", "payments = 1", "--limit", "2", "--json"))
    assert len(told["rows"]) == 2 and all(row["is_traced"] for row in told["rows"])
    assert {"number", "published_at", "run", "code_version"} <= told["rows"][0]["commit"].keys()
    shown = said("trace", DAILY)
    assert "Kafka: payment_charges partition" in shown and "the record it was made of" in shown
    assert "Did you mean marts.payments_daily" in refused("trace", "marts.payment_daily")
    assert "nothing" in refused("trace", DAILY, "--where", "nothing = 1")
