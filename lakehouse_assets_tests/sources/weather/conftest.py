"""A logging server that listens, before a Kafka of its own."""

from collections.abc import Iterator

import pytest

from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import Reading
from lakehouse_assets_tests.support import lake_in


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weather]:
    folder = tmp_path_factory.mktemp("weather") / "a lake"
    with lake_in(folder):
        kafka, server = Kafka(), Weather()
        try:
            kafka.start()
            server.start()
            log([Reading("Nowhere", "0", 0)])  # until Kafka has the topic
            yield server
        finally:
            server.stop()
            kafka.stop()
