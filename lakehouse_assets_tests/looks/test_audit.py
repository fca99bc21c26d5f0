"""A table as it stands, and that the tallies carried from commit to commit say the same."""

from datetime import datetime
from random import Random

import pytest

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets.looks import audit as audit_module
from lakehouse_assets.looks.audit import audit, examples
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.lake.tables import (
    DAILY,
    EVENTS,
    LATEST,
    OVERALL,
    TOTALS,
    Latest,
    Row,
    add,
    day,
    event,
    latest_of,
)
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send


class Staged(Latest, name="staging.stg_bare"):
    """staging.stg_bare: one row per id; rows that break a rule are refused."""

    refuses = True


STAGED = table_asset(Staged, latest_of, events=EVENTS)


def same_counts(lake: Lake, table: LakeTable, hours: list[datetime]) -> None:
    """The newest tally against every rule counted over the table itself."""
    tally = lake.catalog.head(table.name).tallies[0]
    report = audit(lake, table, hours)
    assert tally["failed"] == {v.rule.name: v.failed for v in report.verdicts}
    assert (tally["rows"], report.repeated_keys) == (report.rows, 0)


def some_events(random: Random, first: int, count: int) -> list[Row]:
    return [
        event(
            first + n, f"id{random.randrange(4)}", random.randrange(3),
            random.choice([-3, 0, 7, 60, 150]), at=day(1),
        )
        for n in range(count)
    ]  # fmt: skip


def test_tallies_carried_over_commits_equal_a_full_audit(lake: Lake) -> None:
    random = Random(5)
    tables = (LATEST, TOTALS, DAILY, OVERALL)
    for batch in range(3):
        add(lake, EVENTS, *some_events(random, 10 * batch, 4))
        for table in tables:
            advance(lake, table)
            if batch:
                same_counts(lake, table, [])
    rebuild(lake, LATEST)
    same_counts(lake, LATEST, [])


def test_a_raw_hours_tally_equals_an_audit_of_the_hour(lake: Lake) -> None:
    topic = make_topic("audit_raw")
    for values in ([b'{"id":"a"}', b"bad"], [b"bad", None], [b'{"id":"b"}']):
        send(topic, *values)
        published = ingest(lake, notes(topic)).published
    hour = datetime.fromisoformat(published[-1].stamp.hour)
    same_counts(lake, notes(topic), [hour])


def test_what_staging_refuses_is_not_stored_and_counted_once(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"), event(2, None), event(3, "b", amount=-5), event(4, "c"))
    first = advance(lake, STAGED, hour_of(now()))
    assert first.head is not None and first.head.rows == 2
    assert first.tally is not None
    assert (first.tally["read"], first.tally["refused"], first.tally["stored"]) == (4, 2, 2)
    assert first.tally["failed"] == {
        "id_present": 1, "at_present": 0, "amount_not_negative": 1, "amount_at_most_100": 0,
        "even": 1,
    }  # fmt: skip
    add(lake, EVENTS, event(5, "a", 2, 101), event(6, "a", 1, 2))
    second = advance(lake, STAGED, hour_of(now()))
    assert second.head is not None and second.head.rows == 2
    report = audit(lake, STAGED, [])
    assert (report.rows, {v.rule.name: v.failed for v in report.verdicts}) == (
        6, {"id_present": 1, "at_present": 0, "amount_not_negative": 1, "amount_at_most_100": 1,
            "even": 2},
    )  # fmt: skip


def test_examples_are_of_the_news_and_of_all_only_where_those_have_none_and_rows_are_few(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lake, EVENTS, event(1, None), event(2, "b", amount=-5))
    advance(lake, STAGED, hour_of(now()))
    add(lake, EVENTS, event(3, "c", amount=-6), event(4, "d"))
    outcome = advance(lake, STAGED, hour_of(now()))
    assert outcome.head and outcome.tally
    failing = [v for v in quality.verdicts(Staged, outcome.tally) if not v.passed]
    before = outcome.published[-1].head
    shown = examples(lake, STAGED, [], before, failing)
    assert [row["amount"] for row in shown["amount_not_negative"]] == [-6]
    assert [row["amount"] for row in shown["id_present"]] == [event(1, None)["amount"]]
    monkeypatch.setattr(audit_module, "FEW", 3)  # of the four that were read
    assert examples(lake, STAGED, [], before, failing)["id_present"] == []


def test_a_table_that_was_never_made_has_nothing_to_complain_of(lake: Lake) -> None:
    report = audit(lake, LATEST, [])
    assert (report.rows, report.repeated_keys, report.head) == (0, 0, None)
    assert all(v.passed for v in report.verdicts)
