from collections.abc import Callable
from pathlib import Path

import psutil

from lakehouse_assets import settings
from lakehouse_assets.commands import stack
from lakehouse_assets.services.host import ended
from lakehouse_assets.services.weather import Weather
from lakehouse_assets_tests.support import last_line, refused, said


def test_it_comes_up_without_kafka_and_stays_on_loopback(
    lake: Path, listens_on: Callable[[int], set[str]]
) -> None:
    server = Weather()
    server.start()
    try:
        status = server.status()
        assert status.state == "running" and status.ports == {"weather": settings.port("weather")}
        assert status.pid is not None and listens_on(status.pid) == {"127.0.0.1"}
        killed = psutil.Process(status.pid)
        killed.kill()
        assert ended(killed, 5) and server.start() is True
    finally:
        assert "weather stopped" in said("down", "weather")
    assert "weather" not in last_line(said("status", "--json"))["services"], "it is not missed"


def test_weather_brings_its_server_and_the_database_that_people_watch() -> None:
    def names(*asked: str) -> set[str]:
        wanted, _ = stack._wanted(asked, no_generate=True)
        return {service.name for group in wanted for service in group}

    assert {"weather", "postgres"} <= names("weather") and {"weather", "postgres"} <= names()
    assert not {"weather", "postgres"} & names("payments")
    assert not {"registry", "connect", "shop", "webhooks"} & names("weather")


def test_the_generator_needs_the_server(lake: Path) -> None:
    for background in ([], ["--background"]):
        told = refused("generate", "weather", "--count", "1", *background)
        assert "lakehouse up weather --no-generate" in told
    assert "no dirt in weather" in refused("generate", "weather", "--dirt", "malformed=1")
    assert "no --cities in payments" in refused("generate", "payments", "--cities", "3")
