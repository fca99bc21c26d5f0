"""The commands as one types them: each a process, judged by what it prints and leaves."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from lakehouse_assets import definitions, settings
from lakehouse_assets.bench import _lab
from lakehouse_assets.commands import common, glance
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.marts import payments_daily
from lakehouse_assets.sources.payments import CHARGES, TOPICS, Dirt, charges, truth
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.lake.tables import own_lake
from lakehouse_assets_tests.support import (
    fresh_topic,
    lake_in,
    last_line,
    refused,
    said,
    stored,
)

COMMANDS = (
    "demo", "up", "down", "restart", "wipe", "status", "logs", "checks", "generate", "topic",
    "topics", "query", "rebuild", "release", "accept-gap", "drop", "quarantine", "connectors",
    "storefront-config", "lineage", "trace", "bench", "chaos",
)  # fmt: skip
RAW, MART = "raw.payment_charges", "marts.payments_daily"
DIRT = Dirt(malformed=0.02, null_value=0.01, missing_key=0.01, negative_amount=0.01)


def catch_up(lake: Lake) -> None:
    """Also over the turn of an hour."""
    _lab.catch_up(lake, list(definitions.tables().values()))


@pytest.fixture(scope="module")
def filled(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """All tables, made of a few hundred dirty charges; what a test breaks it mends."""
    with own_lake(tmp_path_factory.mktemp("cli") / "a lake") as lake:
        for topic in {t.topic for t in definitions.tables().values() if t.topic}:
            fresh_topic(topic)  # other tests leave records in them
        ensure_topic(CHARGES)
        produce(charges(7, 400, now() - timedelta(seconds=400), DIRT))
        catch_up(lake)
        yield lake


@pytest.fixture
def nothing(tmp_path: Path) -> Iterator[Path]:
    """A lake in which nothing was ever started."""
    with lake_in(tmp_path / "an empty lake") as folder:
        yield folder


def test_help_lists_every_command() -> None:
    listed = re.findall(r"^  ([a-z-]+)  ", said("--help"), flags=re.MULTILINE)
    assert listed == list(COMMANDS)


def test_the_commands_know_the_tables_that_dagster_knows() -> None:
    assert list(common.tables()) == list(definitions.tables())


def test_status_answers_with_nothing_running_and_starts_nothing(nothing: Path) -> None:
    found = last_line(said("status", "--json"))
    assert {s["state"] for s in found["services"].values()} == {"stopped"}
    assert found["tables"] == {}
    assert "kafka" in said("status")
    assert not (nothing / "kafka").exists()


def test_commands_on_an_empty_lake_say_what_to_do_next(nothing: Path) -> None:
    assert "lakehouse up kafka" in refused("generate", "payments", "--count", "1")
    assert "materialize it first" in refused("quarantine", "list")
    assert "materialize it first" in refused("release", "raw.payment_charges")
    assert "no logs yet" in refused("logs", "kafka")
    assert "nothing was running" in said("down")


def test_an_unknown_name_is_answered_with_the_nearest(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{now() - timedelta(hours=9):%Y-%m-%d-%H:00}")
    assert "Did you mean marts.payments_daily" in refused("rebuild", "payment_daily")
    assert "Did you mean kafka" in refused("up", "kafak")
    assert "Did you mean status" in refused("stats")
    hour = f"{now() + timedelta(hours=1):%Y-%m-%d-%H:00}"
    answer = refused("rebuild", "raw.payment_charges", "--partition", hour)
    assert f"near it: {now():%Y-%m-%d-%H:00}" in answer


def test_a_background_generator_is_a_service_with_a_log(filled: Lake) -> None:
    with_log = ("--rate", "50", "--seed", "3", "--count", "1000000", "--background")
    assert "lakehouse down generate-payments" in said("generate", "payments", *with_log)
    try:
        assert last_line(said("status", "--json"))["services"]["generate-payments"]["pid"]
        assert "runs already" in refused("generate", "payments", "--background")
        assert CHARGES in said("logs", "generate-payments")
    finally:
        assert "generate-payments stopped" in said("down", "generate-payments")
    catch_up(filled)


def test_status_tells_of_tables_what_the_catalog_says(filled: Lake) -> None:
    found = last_line(said("status", "--json"))
    for name, head in filled.catalog.heads().items():
        table = found["tables"][name]
        assert (table["rows"], table["commit"]) == (head.rows, head.stamp.commit)
        assert table["snapshots"] == head.snapshots and not table["held"]
    raw, mart = found["tables"][RAW], found["tables"][MART]
    assert raw["lag"] == 0 and mart["behind"] == 0
    assert found["checks"]["passed"] > 30 and found["checks"]["failed"] == 0


def test_the_glance_knows_the_catalogs_own_names() -> None:
    from lakehouse_assets.lake import catalog

    assert (glance.STAMP, glance.TALLY, glance.HOLD) == (
        catalog.STAMP, catalog.TALLY, catalog.HOLD,
    )  # fmt: skip


def test_a_query_reads_and_never_writes(filled: Lake) -> None:
    counted = last_line(said("query", "select count(*) as n from marts.payments_daily", "--json"))
    assert counted["rows"] == [{"n": len(stored(MART))}]
    shown = said("query", "select event_id from staging.stg_payment_charges -- all", "--limit", "5")
    assert len(shown.strip().splitlines()) == 6
    before = filled.catalog.head(MART)
    assert "only reads" in refused("query", f"delete from {MART}")
    assert "Error" in refused(
        "query", f"with x as (select 1) insert into {MART} select * from x"
    )
    assert filled.catalog.head(MART) == before


def test_a_saved_query_is_answered_as_a_typed_one(filled: Lake) -> None:
    file = settings.ROOT / "deploy/queries/charges_by_provider_and_status.sql"
    found = last_line(said("query", "--file", str(file), "--json"))
    counted = sum(row["transaction_count"] for row in found["rows"])
    assert counted == len(stored("semantic.payments")) > 200


def test_a_wrong_query_gets_a_short_answer(filled: Lake) -> None:
    assert "Did you mean marts.payments_daily" in refused(
        "query", "select * from marts.payment_daily"
    )
    wrong = refused("query", f"select nope from {MART}")
    assert "`nope` cannot be resolved" in wrong and "line 1" in wrong
    assert len(wrong.splitlines()) < 5


def test_quarantine_lists_what_the_generator_planted(filled: Lake) -> None:
    expected = truth.expected(read_back(TOPICS))[truth.QUARANTINE]
    found = last_line(said("quarantine", "list", "--json"))
    assert found["quarantined"] == len(expected) > 10
    of = ("source_table", "stage", "reason")
    listed = {tuple(r[name] for name in of): r["records"] for r in found["reasons"]}
    assert listed == Counter(tuple(r[name] for name in of) for r in expected)


def test_quarantine_shows_records_with_what_is_private_masked(filled: Lake) -> None:
    found = last_line(said("quarantine", "show", "charge_id_present", "--json"))
    record = found["records"][0]
    assert record["kafka_offset"] >= 0 and record["record"]["event_id"].startswith("evt_")
    assert record["record"]["metadata"] == "•••" and record["record"]["card_last4"] == "•••"
    shown = said("quarantine", "show", "malformed")
    assert "partition" in shown and "_payload: •••" in shown and "@" not in shown
    assert "Did you mean malformed" in refused("quarantine", "show", "malfromed")


def test_a_replay_without_a_fix_changes_nothing(filled: Lake) -> None:
    before = filled.catalog.head(RAW)
    assert "nothing changes" in said("quarantine", "replay", RAW)
    assert filled.catalog.head(RAW) == before
    assert "only raw tables" in refused("quarantine", "replay", MART)


def test_a_rebuild_leaves_the_same_rows(filled: Lake) -> None:
    before = stored(MART)
    assert "rows written" in said("rebuild", MART)
    assert stored(MART) == before
    assert "--partition" in refused("rebuild", RAW)
    catch_up(filled)


def doubled(payments: DataFrame) -> DataFrame:
    once = payments_daily.transform(payments)
    return once.unionAll(once)


def test_a_held_batch_says_since_when_and_why_and_is_released_by_name(filled: Lake) -> None:
    filled.catalog.iceberg.purge_table(MART)
    with pytest.raises(Held):
        advance(filled, replace(definitions.tables()[MART], transform=doubled))
    table = last_line(said("status", "--json"))["tables"][MART]
    assert table["checks"]["failed"] == 1
    assert table["held"]["why"] == "the transform gave one key 2 rows"
    told = f"HELD since {table['held']['since'][:16].replace('T', ' ')} UTC"
    assert told in said("status")
    assert f"released {table['held']['branch']}" in said("release", MART)
    assert "no batch is held" in said("release", MART)
    assert not last_line(said("status", "--json"))["tables"][MART]["held"]
    catch_up(filled)


def test_a_dropped_table_is_made_anew(filled: Lake) -> None:
    before = stored(MART)
    assert "--yes" in refused("drop", MART)
    assert stored(MART) == before
    assert "deleted" in said("drop", MART, "--yes")
    assert MART not in last_line(said("status", "--json"))["tables"]
    advance(filled, definitions.tables()[MART])
    assert stored(MART) == before


def test_a_gap_is_accepted_by_word_only(filled: Lake) -> None:
    assert "nothing is missing" in said("accept-gap", RAW)
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    produce(charges(8, 20, now() - timedelta(seconds=20), Dirt.none()))
    rows = filled.catalog.head(RAW).rows
    assert "accept-gap" in last_line(said("status", "--json"))["tables"][RAW]["note"]
    assert "--yes" in refused("accept-gap", RAW)
    told = said("accept-gap", RAW, "--yes")
    assert "deleted and created again" in told and "generation 1" in told
    catch_up(filled)
    assert filled.catalog.head(RAW).rows == rows + 20
    assert "only raw tables" in refused("accept-gap", MART)


def test_wipe_asks_and_leaves_only_what_is_not_data(nothing: Path) -> None:
    for name in ("warehouse", "kafka", "logs"):
        (nothing / name).mkdir(parents=True)
    (nothing / "mine.txt").write_text("not the lake's")
    assert "--yes" in refused("wipe")
    assert (nothing / "warehouse").exists()
    said("wipe", "--yes")
    assert [p.name for p in nothing.iterdir()] == ["mine.txt"]
