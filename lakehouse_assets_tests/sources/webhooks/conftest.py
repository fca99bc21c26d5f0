"""A door that listens, before a Kafka of its own."""

from collections.abc import Iterator

import pytest

from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.webhooks import Webhooks
from lakehouse_assets_tests.sources.webhooks.vendor import SECRETS, until_kafka_is
from lakehouse_assets_tests.support import lake_in


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhooks]:
    folder = tmp_path_factory.mktemp("door") / "a lake"
    with lake_in(folder), pytest.MonkeyPatch.context() as patch:
        for name, secret in SECRETS.items():
            patch.setenv(name, secret)
        kafka, door = Kafka(), Webhooks()
        try:
            kafka.start()
            door.start()
            until_kafka_is("up")
            yield door
        finally:
            door.stop()
            kafka.stop()
