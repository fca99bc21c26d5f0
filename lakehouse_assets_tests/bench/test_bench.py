"""Benches at a small size: their fields, and that both sides did the same work; never times."""

import os
from collections.abc import Iterator
from functools import wraps
from pathlib import Path

import psutil
import pytest

from lakehouse_assets import settings
from lakehouse_assets.bench import _feed, _soak, checks, features, freshness, ingest, payments, tick
from lakehouse_assets.bench._group import the_tables
from lakehouse_assets.bench._lab import Lab, Meter, lab
from lakehouse_assets.cli import main
from lakehouse_assets.services.host import ServiceError, alive
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.service import Service
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import CHARGES, TOPICS
from lakehouse_assets.sources.produce import ensure_topic
from lakehouse_assets_tests.support import fresh_topic


@pytest.fixture
def place(empty_lake: Path) -> Iterator[Lab]:
    """The test run's own Kafka and Spark, with no topic yet."""
    fresh_topic(CHARGES)
    yield Lab(empty_lake, [Kafka(), Spark()])
    fresh_topic(CHARGES)


def test_ingest_stores_what_its_rival_stores_and_tells_both_figures(place: Lab) -> None:
    result = ingest.measure(
        place, rows=3_000, warmup=0, repeats=1, batch=1_000, seed=7, coordinates=True
    )
    assert result["rows"] == 3_000
    assert result["equal"]
    for side in (result, result["rival"]):
        assert all(side[f] > 0 for f in ("rows_per_s", "rows_per_cpu_s", "peak_mb"))
    assert result["rival"]["name"].startswith("confluent-kafka")
    assert "no error handling" in result["settings"]["rival"]


def test_thirty_rules_a_third_patterns_agree_with_pandera(place: Lab) -> None:
    result = checks.measure(place, rows=3_000, repeats=1, warmup=0, seed=7, source="kafka")
    assert (result["rules"], result["patterns"], result["rows"]) == (30, 10, 3_000)
    assert result["verdicts_equal"]
    assert result["counts_equal"]
    assert "amount_not_negative" in result["broken"]
    assert "card_last4_well_formed" not in result["broken"]
    assert {"added_pct", "ours_s", "pandera_s"} <= set(result)


def test_payments_go_through_every_table_and_each_is_told_of(place: Lab) -> None:
    for topic in TOPICS:
        fresh_topic(topic)
        ensure_topic(topic)
    payments._sent(7, 600, days=1)
    with place.lake("measured") as lake:
        result = payments._measured(place, lake, 600)
        assert set(result["by_asset"]) == {t.name for t in the_tables()}
        assert lake.catalog.head("marts.payments_daily").rows > 0
    assert {"rows", "events_per_s", "cpu_s_per_million", "peak_mb"} <= set(result)


def test_features_are_the_rivals_and_those_of_brute_force_also_after_increments(place: Lab) -> None:
    result = features.measure(
        place, rows=2_000, days=10, customers=50, hot=500, turns=(0, 1), sample=20, seed=7
    )
    assert result["equal"]
    assert result["brute_force_rows"] > 500
    assert (result["rows"], result["increment_rows"], result["hot"]["rows"]) == (2_000, 20, 500)
    for side in (result, result["hot"]):
        assert all(side[f] > 0 for f in ("full_s", "compute_s", "ratio"))
        assert side["rival"]["name"].startswith("DuckDB")
    assert result["increment_s"] > 0


def test_a_record_is_visible_with_the_first_state_of_the_mart_that_covers_its_offset() -> None:
    arrivals = {(0, 0): 10.0, (0, 1): 11.0, (0, 2): 20.0, (1, 0): 10.5, (1, 5): 30.0}
    seen = [(12.0, {0: 1}), (15.0, {0: 2, 1: 1}), (25.0, {0: 3, 1: 5})]
    assert list(freshness._waits(arrivals, seen)) == [2.0, 4.0, 5.0, 4.5]


@pytest.mark.parametrize(("waited", "never", "p50", "p95", "most"), [
    ([1.0, 2.0, 3.0, 4.0], 0, 3.0, 4.0, 4.0),
    ([1.0, 2.0, 3.0], 1, 3.0, None, None),
    ([1.0], 3, None, None, None),
    ([], 0, None, None, None),
])  # fmt: skip
def test_a_record_that_never_became_visible_waited_longer_than_all_others(
    waited: list[float], never: int, p50: float, p95: float, most: float
) -> None:
    shares = [_feed.share(waited, never, share) for share in (0.50, 0.95, 1)]
    assert shares == [p50, p95, most]


def test_a_lab_stops_what_joined_it_first_and_goes_on_if_one_cannot_be_stopped() -> None:
    stopped: list[str] = []
    with pytest.raises(ServiceError, match="daemon hangs"), lab(Named("kafka", stopped)) as place:
        place.services += [Named("daemon", stopped), Named("webserver", stopped)]
    assert stopped == ["webserver", "daemon", "kafka"]
    assert not place.folder.exists()


class Named(Service):
    """A service that starts at once and tells when it is stopped."""

    def __init__(self, name: str, stopped: list[str]) -> None:
        self.name, self._stopped = name, stopped

    def start(self) -> bool:
        return True

    def stop(self) -> bool:
        self._stopped.append(self.name)
        if self.name == "daemon":
            raise ServiceError("daemon hangs")
        return True


def test_soak_is_a_flag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, object] = {}

    @wraps(tick.run)
    def run(**options: object) -> dict[str, object]:
        given.update(options)
        return {"small_s": 1}

    monkeypatch.setattr(tick, "run", run)
    main(["bench", "tick", "--soak", "--json"], standalone_mode=False)
    assert (given["soak"], given["soak_commits"]) == (True, 10_000)
    assert capsys.readouterr().out == '{"small_s": 1}\n'


def test_an_interrupted_soak_tells_what_it_has() -> None:
    seconds = [1.0] * 100 + [2.0] * 100
    assert _soak.endured(seconds, {100: 8.0}, 1_000) == {
        "commits": 200, "first_s": 8.0, "last_s": None, "ratio": None,
        "pace_s": {"100": 1.0, "200": 2.0},
    }  # fmt: skip
    assert _soak.endured([], {}, 1_000)["pace_s"] == {}
    assert _soak.endured([1.0], {1: 8.0}, 1)["ratio"] == 1.0


def test_a_lab_leaves_no_folder_no_process_and_no_setting_behind() -> None:
    before = dict(os.environ)
    with pytest.raises(KeyboardInterrupt), lab(Kafka()) as place:
        broker = psutil.Process(place.pid("kafka"))
        assert settings.home() == place.folder
        raise KeyboardInterrupt
    assert not place.folder.exists()
    assert not alive(broker)
    assert dict(os.environ) == before


def test_settings_of_somebody_elses_lake_do_not_reach_a_lab() -> None:
    there = {"LAKEHOUSE_KAFKA": "elsewhere:9092", "LAKEHOUSE_WAREHOUSE": "/elsewhere"}
    with settings.environment(there):
        with lab() as place:
            assert settings.kafka_bootstrap().startswith("127.0.0.1:")
            assert settings.warehouse() == str(place.folder / "warehouse")
        assert settings.kafka_bootstrap() == "elsewhere:9092"


def test_the_meter_counts_work_and_not_waiting() -> None:
    with Meter(os.getpid()) as meter:
        sum(range(3_000_000))
    assert 0 < meter.cpu_s <= meter.wall_s + 1
