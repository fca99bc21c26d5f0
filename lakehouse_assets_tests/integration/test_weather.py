"""Weather from the logging server to what pages read, against the generator's truth."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.bench import _lab
from lakehouse_assets.commands.compare import against_minutes, against_truth
from lakehouse_assets.commands.query import SAVED, ask, ask_postgres
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.serving.alike import look
from lakehouse_assets.serving.database import DATABASE, pages_dsn
from lakehouse_assets.serving.weather import bring
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.sources.weather import TOPIC, TOPIC_CONFIG, truth
from lakehouse_assets.sources.weather.around import around
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import readings
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.support import emptied, fresh_topic

SAVED_QUERIES = settings.ROOT / SAVED / "weather"
OURS = [t for t in tables().values() if t.group in ("weather", "metadata")]


@pytest.fixture
def server(lake: Lake, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Weather]:
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", postgres)
    emptied(postgres, DATABASE)
    fresh_topic(TOPIC)
    ensure_topic(TOPIC, config=TOPIC_CONFIG)
    server = Weather()
    try:
        server.start()
        yield server
    finally:
        server.stop()


def check(lake: Lake) -> None:
    found = against_truth(truth, read_back([TOPIC]))
    assert [(one.table, one.examples) for one in found if not one.is_equal] == []
    bring(lake.catalog)
    there = against_minutes(pages_dsn())
    assert there.is_equal and there.rows, there.examples
    assert look(lake.catalog).is_alike


def test_what_is_logged_and_what_comes_around_ends_in_the_truth_and_in_postgres(
    lake: Lake, server: Weather
) -> None:
    produce(around(5, 300, now() - timedelta(hours=2), timedelta(seconds=20)))
    _lab.catch_up(lake, OURS)
    check(lake)
    log(readings(7, 60, now()))
    produce(around(6, 100, now() - timedelta(minutes=50), timedelta(seconds=29)))
    _lab.catch_up(lake, OURS)
    check(lake)
    for name in truth.KEYS:
        if tables()[name].transform:
            rebuild(lake, tables()[name])
    check(lake)
    for file in sorted(SAVED_QUERIES.glob("*.sql")):
        assert ask(lake.spark, file.read_text(), limit=1_000).num_rows, file.name
    answers = {f.stem: ask_postgres(f.read_text(), 1_000)[1] for f in _of_postgres()}
    assert len(answers["latest_minutes"]) == 10
    (boston,) = [r for r in answers["averages_by_city"] if r["city"] == "Boston"]
    assert boston["total_records"] > 6 and 0 <= boston["overall_avg"] <= 120


def _of_postgres() -> list[Path]:
    return sorted((SAVED_QUERIES / "postgres").glob("*.sql"))
