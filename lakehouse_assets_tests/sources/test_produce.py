import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic, perf_counter

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource

from lakehouse_assets import settings
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import (
    CHARGES,
    FIRST_DAY,
    Dirt,
    charges,
    distinct_charges,
)
from lakehouse_assets.sources.produce import (
    MAX_RECORD_BYTES,
    PACE_S,
    ProduceError,
    ensure_topic,
    produce,
)
from lakehouse_assets_tests.support import lake_in

READ_S = 30


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Kafka of this module's own, on ports of its own."""
    with lake_in(tmp_path_factory.mktemp("lake")), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_KAFKA_RETENTION_HOURS", "100")
        kafka = Kafka()
        try:
            kafka.start()
            yield settings.kafka_bootstrap()
        finally:
            kafka.stop()


def everything(topic: str, bootstrap: str) -> list[Message]:
    """All records of a topic's four partitions, within a bounded time."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "test", "enable.auto.commit": False,
        "isolation.level": "read_committed", "fetch.message.max.bytes": 10_000_000,
    })  # fmt: skip
    places = [TopicPartition(topic, number, 0) for number in range(4)]
    wanted = sum(consumer.get_watermark_offsets(place, timeout=READ_S)[1] for place in places)
    consumer.assign(places)
    records: list[Message] = []
    deadline = monotonic() + READ_S
    while len(records) < wanted and monotonic() < deadline:
        records += consumer.consume(1_000, timeout=1)
    consumer.close()
    return records


def to(topic: str, events: list[Event]) -> list[Event]:
    """The same events for a topic of this test's own."""
    ensure_topic(topic)
    return [event._replace(topic=topic) for event in events]


def test_every_event_arrives_once_with_its_key_and_bytes(broker: str) -> None:
    events = to("whole", list(charges(1, 5_000, FIRST_DAY, Dirt(oversized=0.001))))
    heard: list[int] = []
    assert produce(events, on_progress=heard.append) == 5_000
    assert heard[-1] == 5_000
    arrived = [(record.key(), record.value()) for record in everything("whole", broker)]
    assert sorted(map(repr, arrived)) == sorted(repr((e.key, e.value)) for e in events)


def test_events_of_one_charge_keep_their_order(broker: str) -> None:
    events = to("order", list(charges(2, 2_000, FIRST_DAY, Dirt.none())))
    produce(events)
    arrived = [record.value() for record in everything("order", broker)]
    for key in {event.key for event in events[:200]}:
        sent = [event.value for event in events if event.key == key]
        assert [value for value in arrived if value in sent] == sent


def test_a_topic_has_kafkas_clock_and_retention_and_is_created_once(broker: str) -> None:
    ensure_topic("clock", partitions=3)
    ensure_topic("clock", partitions=8)
    admin = AdminClient({"bootstrap.servers": broker})
    assert len(admin.list_topics("clock", timeout=READ_S).topics["clock"].partitions) == 3
    resource = ConfigResource(ConfigResource.Type.TOPIC, "clock")
    config = admin.describe_configs([resource])[resource].result(READ_S)
    assert config["message.timestamp.type"].value == "LogAppendTime"
    assert config["max.message.bytes"].value == str(MAX_RECORD_BYTES)
    assert config["retention.ms"].value == str(100 * 3600 * 1000)  # the broker's


def test_a_rate_spreads_the_events_over_time(broker: str) -> None:
    pace = timedelta(milliseconds=20)
    events = to("paced", list(charges(3, 51, FIRST_DAY, interval=pace)))
    began = perf_counter()
    produce(events, paced_from=FIRST_DAY)
    assert perf_counter() - began >= 1.0 - PACE_S


def test_a_record_too_large_is_an_error_that_names_the_limit(broker: str) -> None:
    filler = Event(b"k", b"x" * (MAX_RECORD_BYTES + 1), "large", "oversized")
    ensure_topic("large")
    with pytest.raises(ProduceError, match=r"topic large: 1 records .*10,000,000 bytes"):
        produce([filler])
    ensure_topic("small", config={"max.message.bytes": "1000"})
    noise = charges(4, 3, FIRST_DAY, Dirt.only(oversized=1, oversized_bytes=50_000))
    with pytest.raises(ProduceError, match=r"topic small: \d+ records .*max\.message\.bytes"):
        produce(to("small", list(noise)))


def test_the_generator_runs_alone_and_says_how_to_repeat_it(broker: str) -> None:
    command = [sys.executable, "-m", "lakehouse_assets.sources.payments"]
    begin = ["--seed", "5", "--start", "2026-01-01T00:00:00Z", "--rate", "0", "--count", "300"]
    begin += ["--only", "charges"]
    done = subprocess.run(
        [*command, *begin], capture_output=True, text=True, timeout=60, cwd=settings.ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "--seed 5 --rate 0 --start 2026-01-01T00:00:00+00:00" in done.stderr
    arrived = {record.value() for record in everything(CHARGES, broker)}
    assert arrived == {event.value for event in charges(5, 300, FIRST_DAY)}


def test_the_speed_of_sending_is_told(broker: str) -> None:
    events = to("speed", list(distinct_charges(6, 100_000, FIRST_DAY)))
    began = perf_counter()
    produce(events)
    print(f"\n{100_000 / (perf_counter() - began):,.0f} records/s sent and acknowledged")


def test_no_kafka_is_an_error_that_says_where_it_was_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:9")
    monkeypatch.setattr("lakehouse_assets.sources.produce.ADMIN_S", 2)
    with pytest.raises(ProduceError, match=r"127\.0\.0\.1:9.*`lakehouse up`"):
        ensure_topic("nowhere")
