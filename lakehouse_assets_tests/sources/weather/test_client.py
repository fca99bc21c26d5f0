"""Sending as the client does: to a server of our own making, and through the real one."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.produce import PACE_S
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import CITIES, Reading, readings
from lakehouse_assets_tests.sources.answering import Answers, answering
from lakehouse_assets_tests.support import lake_in


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[type[Answers]]:
    with lake_in(tmp_path), answering("weather") as server:
        yield server


def test_a_reading_is_asked_for_as_the_server_wants_it(ours: type[Answers]) -> None:
    assert log([Reading("New York & more", "72.5", 0)]) == 1
    assert ours.asked == ["/log?city=New+York+%26+more&temperature=72.5"]
    ours.answers = [(400, {}, '{"error":"city_invalid","message":"too long"}')]
    told = r"'Boston', '72\.5': was answered with 400 .* too long"
    with pytest.raises(NotTakenError, match=told):
        log([Reading("Boston", "72.5", 0)])


def test_no_server_is_an_error_that_says_how_to_start_it(tmp_path: Path) -> None:
    with lake_in(tmp_path), pytest.raises(NotTakenError, match="lakehouse up weather"):
        log([Reading("Boston", "72.5", 0)])


def test_a_rate_spreads_the_readings_over_time(ours: type[Answers]) -> None:
    start = datetime.now(timezone.utc)
    began = time.monotonic()
    log(readings(7, 30, start, timedelta(seconds=0.5)), paced_from=start)
    assert time.monotonic() - began >= 1.0 - PACE_S


def test_what_is_sent_is_in_kafka_and_the_generator_runs_alone(server: Weather) -> None:
    before = len(read_back([TOPIC]))
    start = datetime.now(timezone.utc)
    assert log(readings(5, 200, start)) == 200
    args = ["--rate", "0", "--count", "50", "--seed", "6", "--cities", "40"]
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets.sources.weather", *args],
        capture_output=True, text=True, timeout=60, cwd=settings.ROOT,
    )  # fmt: skip
    assert done.returncode == 0 and "--seed 6 --cities 40" in done.stderr, done.stderr
    found = read_back([TOPIC])
    assert len(found) == before + 250
    told = Counter(r.key.decode() for r in found if r.key)
    assert all(told[city] >= 20 for city in CITIES) and len(told) > 20


@pytest.mark.parametrize("wrong", [("--rate", "0"), ("--rate", "-1"), ("--rate", "nan"),
                                   ("--count", "-1")])  # fmt: skip
def test_a_rate_or_count_that_cannot_be_is_refused(wrong: tuple[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets.sources.weather", *wrong],
        capture_output=True, text=True, timeout=60, cwd=settings.ROOT,
    )  # fmt: skip
    assert done.returncode == 2 and "Traceback" not in done.stderr
