"""Payments from Kafka to the mart, against the generator's truth, which shares no code with the
engine.
"""

import subprocess
import sys
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random

import dagster as dg
import duckdb
import polars
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from lakehouse_assets import settings
from lakehouse_assets.bench import _lab
from lakehouse_assets.commands.compare import against_truth
from lakehouse_assets.commands.query import SAVED, ask
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.definitions import defs, tables
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.orchestration.names import asset_key
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import TOPICS, Dirt, payments, truth
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.support import fresh_topic, stored

SAVED_QUERIES = sorted((settings.ROOT / SAVED).glob("*.sql"))
DIRT = Dirt(
    duplicate=0.1, redelivery=0.05, late=0.1, tie_event=0.02, tie_state=0.02, deletion=0.05,
    reason_spelling=0.1, interval_spelling=0.1, oversized=1 / 400, oversized_bytes=5_000_000,
)  # fmt: skip


def events(count: int, seed: int = 7) -> list[Event]:
    return list(payments(seed, count, now() - timedelta(seconds=count), DIRT))


def catch_up(lake: Lake) -> None:
    """Also over the turn of an hour."""
    _lab.catch_up(lake, list(tables().values()))


def check_against_truth() -> None:
    found = against_truth(truth, read_back(TOPICS))
    assert [(one.table, one.examples) for one in found if not one.is_equal] == []


@pytest.fixture(autouse=True)
def topics(lake: Lake) -> None:
    for topic in TOPICS:
        fresh_topic(topic)
        ensure_topic(topic)


def test_one_batch_gives_the_generators_truth(lake: Lake) -> None:
    produce(events(1_200))
    catch_up(lake)
    check_against_truth()
    check_saved_queries(lake)


def test_many_shuffled_batches_give_the_truth_and_a_rebuild_changes_nothing(
    lake: Lake,
) -> None:
    made = events(1_200)
    Random(1).shuffle(made)
    for start in range(0, len(made), 400):
        produce(made[start : start + 400])
        catch_up(lake)
    check_against_truth()
    check_other_readers(truth.STAGING[TOPICS[0]])
    before = contents()
    materialize_by_command("marts/payments_daily")
    backfill()
    assert contents() == before, "hours made again from Kafka, and all that follows"
    for name in [name for name in truth.KEYS if not tables()[name].topic]:
        rebuild(lake, tables()[name])
    assert contents() == before, "everything rebuilt from raw"
    check_against_truth()


def contents() -> dict[str, str]:
    """Every table's rows as a hash; what begins with `_` is bookkeeping."""
    return {n: sha256(repr(stored(n)).encode()).hexdigest() for n in truth.KEYS}


def materialize_by_command(key: str) -> None:
    dagster = Path(sys.executable).parent / "dagster"
    command = [dagster, "asset", "materialize", "-m", "lakehouse_assets.definitions"]
    done = subprocess.run(
        [*command, "--select", key], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]


def backfill() -> None:
    """All hours of the group by hand, as the UI's backfill runs them."""
    hours = {row["ingest_hour"] for name in truth.RAW.values() for row in stored(name)}
    wanted = {asset_key(name) for name in truth.KEYS}
    job = defs.resolve_implicit_global_asset_job_def().get_subset(asset_selection=wanted)
    with dg.DagsterInstance.ephemeral() as instance:
        for hour in sorted(hours):
            key = f"{hour:{settings.HOUR_FORMAT}}"
            assert job.execute_in_process(instance=instance, partition_key=key).success


def check_saved_queries(lake: Lake) -> None:
    """Each finds something in dirty payments, and what can be counted by hand is right."""
    found = {f.stem: ask(lake.spark, f.read_text(), limit=1_000).to_pylist() for f in SAVED_QUERIES}
    idle = found.pop("disputes_without_evidence")
    events = stored("staging.stg_payment_disputes")
    answered = {row["dispute_id"] for row in events if row["evidence_submitted_by"]}
    assert {row["dispute_id"] for row in idle} == {row["dispute_id"] for row in events} - answered
    assert [name for name, rows in found.items() if not rows] == []
    charges = sum(row["transaction_count"] for row in found["charges_by_provider_and_status"])
    assert charges == len(stored("semantic.payments"))


def check_other_readers(name: str) -> None:
    """The table holds rows that were replaced: every reader must leave out the old ones."""
    catalog = SqlCatalog(settings.CATALOG, uri=settings.catalog_uri())
    table = catalog.load_table(name)
    arrow = table.scan(selected_fields=("event_id", "updated_at")).to_arrow()
    want = sorted(zip(arrow["event_id"].to_pylist(), arrow["updated_at"].to_pylist(), strict=True))
    over_arrow = duckdb.sql("select event_id, updated_at from arrow").fetchall()
    lazily = polars.scan_iceberg(table).select("event_id", "updated_at").collect()
    assert sorted(over_arrow) == want
    assert sorted(lazily.rows()) == want
