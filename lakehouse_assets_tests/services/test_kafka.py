from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets_tests.support import lake_in


@pytest.fixture(scope="module")
def kafka(module_lake: Path) -> Iterator[Kafka]:
    kafka = Kafka()
    kafka.start()
    yield kafka
    kafka.stop()


def produce(topic: str, count: int) -> list[int]:
    """The offsets that the broker acknowledged."""
    acknowledged: list[int] = []
    producer = Producer({"bootstrap.servers": settings.kafka_bootstrap(), "acks": "all"})
    for number in range(count):
        producer.produce(
            topic,
            value=str(number).encode(),
            timestamp=1,  # 1970: the broker's clock must win
            on_delivery=lambda error, message: acknowledged.append(message.offset()),
        )
    assert producer.flush(20) == 0
    return acknowledged


def consume(topic: str, count: int) -> tuple[list[bytes], set[int]]:
    consumer = Consumer(
        {
            "bootstrap.servers": settings.kafka_bootstrap(),
            "group.id": "test",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    messages = consumer.consume(count, timeout=20)
    consumer.close()
    return [message.value() for message in messages], {m.timestamp()[0] for m in messages}


def create(topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)


def test_acknowledged_records_survive_kill_9_in_the_same_cluster(kafka: Kafka) -> None:
    create("events")
    meta = (kafka.folder / "data" / "meta.properties").read_text()
    assert produce("events", 500) == list(range(500))
    pid = kafka.status().pid
    assert pid is not None
    psutil.Process(pid).kill()
    assert kafka.start() is True
    assert (kafka.folder / "data" / "meta.properties").read_text() == meta
    values, clocks = consume("events", 500)
    assert values == [str(number).encode() for number in range(500)]
    assert clocks == {TIMESTAMP_LOG_APPEND_TIME}


def test_a_started_broker_takes_topics_at_once_and_makes_none_by_itself(kafka: Kafka) -> None:
    kafka.stop()
    assert kafka.status().state == "stopped"
    kafka.start()
    create("at_once")
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    admin.list_topics("never_made", timeout=5)
    assert "never_made" not in admin.list_topics(timeout=5).topics


def test_it_starts_in_a_folder_with_any_letters_whatever_the_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    with lake_in(tmp_path / "Zoë\\湖 😀"):
        kafka = Kafka()
        try:
            kafka.start()
            create("here")
            assert produce("here", 3) == [0, 1, 2]
            assert (kafka.folder / "data" / "here-0").is_dir()
        finally:
            kafka.stop()


def test_a_folder_with_a_comma_is_refused_by_name(tmp_path: Path) -> None:
    with (
        lake_in(tmp_path / "lakes, mine") as folder,
        pytest.raises(ServiceError, match=f"{folder}.*LAKEHOUSE_HOME"),
    ):
        Kafka().start()


def test_it_listens_on_loopback_only(kafka: Kafka, listens_on: Callable[[int], set[str]]) -> None:
    pid = kafka.status().pid
    assert pid is not None
    assert listens_on(pid) == {"127.0.0.1"}


def test_somebody_elses_broker_is_probed_and_never_started_or_stopped(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = settings.kafka_bootstrap()
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    monkeypatch.setenv("LAKEHOUSE_KAFKA", address)
    assert kafka.start() is False
    assert kafka.status().state == "foreign"
    assert kafka.stop() is False
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
    assert kafka.status().state == "unhealthy"
    with pytest.raises(ServiceError, match=r"127\.0\.0\.1:1 does not answer"):
        kafka.start()
