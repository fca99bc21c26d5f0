"""The logging server while Kafka comes and goes: an answer of 200 is a record, always."""

import time
from collections.abc import Iterator

import psutil
import pytest

from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import Reading
from lakehouse_assets_tests.sources.weather.asking import get, records


@pytest.fixture
def killed_kafka(server: Weather) -> Iterator[Kafka]:
    kafka = Kafka()
    process = psutil.Process(kafka.status().pid)
    process.kill()
    process.wait(10)
    yield kafka
    kafka.start()


def test_without_kafka_it_says_so_stays_healthy_and_goes_on_by_itself(
    server: Weather, killed_kafka: Kafka
) -> None:
    answer = get("/log?city=Away&temperature=1")
    assert (answer.status, answer.said["error"]) == (503, "kafka_away")
    assert answer.headers["retry-after"] == "5"
    assert get("/health").said == {"status": "healthy"}
    killed_kafka.start()
    assert log([Reading("Back again", "2", 0)]) == 1
    assert len(records("Back again")) == 1


def test_what_was_acknowledged_is_there_after_the_server_is_killed(server: Weather) -> None:
    taken = 0
    for number in range(50):
        taken += get(f"/log?city=Killed&temperature={number}").status == 200
    process = psutil.Process(server.status().pid)
    process.kill()
    process.wait(10)
    server.start()
    deadline = time.monotonic() + 10
    while len(found := records("Killed")) < taken and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(found) == taken == 50
