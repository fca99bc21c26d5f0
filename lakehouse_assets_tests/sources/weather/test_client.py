"""Sending as the client does: to a server of our own making, and through the real one."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.sources.produce import PACE_S
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.client import Client, LogError, log
from lakehouse_assets.sources.weather.readings import CITIES, Reading, readings
from lakehouse_assets_tests.support import lake_in

ONE = Reading("Boston", "72.5", 0)


class Answers(BaseHTTPRequestHandler):
    """Answers in turn with what it is told to; the last answer stays."""

    protocol_version = "HTTP/1.1"
    answers: list[tuple[int, dict[str, str], str]]
    asked: list[str]

    def do_GET(self) -> None:
        status, headers, said = 200, dict[str, str](), "{}"
        if self.path.startswith("/log"):
            self.asked.append(self.path)
            status, headers, said = self.answers[0]
            self.answers[:] = self.answers[1:] or self.answers
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(said))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[type[Answers]]:
    with lake_in(tmp_path):
        class Mine(Answers):
            answers = [(200, {}, "{}")]  # noqa: RUF012
            asked = []  # noqa: RUF012

        server = ThreadingHTTPServer(("127.0.0.1", settings.port("weather")), Mine)
        Thread(target=server.serve_forever, daemon=True).start()
        yield Mine
        server.shutdown()
        server.server_close()


def test_who_is_asked_to_come_again_does_so_when_it_is_asked(ours: type[Answers]) -> None:
    ours.answers = [(503, {"Retry-After": "1"}, "{}"), (503, {}, "{}"), (200, {}, "{}")]
    began = time.monotonic()
    assert log([ONE]) == 1
    assert 2 <= time.monotonic() - began < 10
    assert ours.asked == ["/log?city=Boston&temperature=72.5"] * 3


def test_what_is_refused_is_an_error_at_once_and_so_is_patience_at_its_end(
    ours: type[Answers],
) -> None:
    ours.answers = [(400, {}, '{"error":"city_invalid","message":"too long"}')]
    with pytest.raises(LogError, match=r"'Boston', '72\.5': was answered with 400 .* too long"):
        log([ONE])
    ours.answers = [(503, {}, '{"message":"Kafka is away"}')]
    with Client(patience_s=1.5) as client, pytest.raises(LogError, match="503"):
        client.log(ONE)


def test_no_server_is_an_error_that_says_how_to_start_it(tmp_path: Path) -> None:
    with lake_in(tmp_path), pytest.raises(LogError, match="lakehouse up weather"):
        log([ONE])


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
