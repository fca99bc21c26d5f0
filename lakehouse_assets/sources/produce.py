"""Sending events to Kafka, for every generator: whole, in order, paced, and loud when it fails.

The producer is idempotent and waits for all replicas, so that what a generator says it has sent is
in the topic once. Pacing lives here; the events know nothing of it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lakehouse_assets import settings
from lakehouse_assets.sources.event import Event, NotTakenError

MAX_RECORD_BYTES = 10_000_000
QUEUED_RECORDS, QUEUED_KB = 100_000, 131_072  # what the producer may hold before it makes us wait
DELIVERY_S = 60  # a record that the broker has not taken by then has failed
ADMIN_S = 10
POLL_S = 0.1
PROGRESS_S = 0.2
PACE_S = 0.02  # events that are due within it go out together: waking for each costs more than it

TOPIC_CONFIG = {  # how long records are kept is the broker's setting
    "message.timestamp.type": "LogAppendTime",  # hours are Kafka's, never in the future
    "max.message.bytes": str(MAX_RECORD_BYTES),
}


class ProduceError(NotTakenError):
    """Kafka did not take what we sent; the message says what, where and what to do."""


def ensure_topic(name: str, partitions: int = 4, config: Mapping[str, str] | None = None) -> None:
    """Create the topic unless it stands already; one that stands is left as it is."""
    admin = AdminClient(_client())
    topic = NewTopic(name, num_partitions=partitions, config={**TOPIC_CONFIG, **(config or {})})
    try:
        admin.list_topics(timeout=ADMIN_S)
        admin.create_topics([topic], operation_timeout=ADMIN_S)[name].result(ADMIN_S)
    except KafkaException as failure:
        code = failure.args[0].code()
        if code == KafkaError.TOPIC_ALREADY_EXISTS:
            return
        raise ProduceError(_advice(f"topic {name} cannot be created", failure.args[0])) from failure


def topics() -> dict[str, int]:
    """How many partitions each topic has; Kafka's own topics are left out."""
    try:
        found = AdminClient(_client()).list_topics(timeout=ADMIN_S).topics
    except KafkaException as failure:
        raise ProduceError(_advice("topics cannot be listed", failure.args[0])) from failure
    return {n: len(t.partitions) for n, t in sorted(found.items()) if not n.startswith("__")}


def produce(
    events: Iterable[Event],
    paced_from: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Send all events and return how many; all of them are acknowledged.

    `paced_from`: the instant that is now for the events; each goes out when it is made, or up to
    PACE_S early. Else as fast as can be. `on_progress` hears the number handed over so far, at most
    five times a second.
    """
    sender = _Sender()
    began = told = time.monotonic()
    ahead = paced_from.timestamp() - began if paced_from else 0
    sent = 0
    try:
        for event in events:
            if paced_from:
                sender.wait_until(event.made_ms / 1000 - ahead)
            sender.send(event)
            sent += 1
            now = time.monotonic()
            if now - told >= PROGRESS_S:
                sender.listen()
                if on_progress:
                    on_progress(sent)
                told = now
    finally:
        unsettled = sender.flush()
    sender.check(unsettled)
    if on_progress:
        on_progress(sent)
    return sent


class _Sender:
    """A producer whose queue is bounded and whose first failure stops the sending."""

    def __init__(self) -> None:
        self._failed = 0
        self._first: tuple[str, KafkaError] | None = None
        self._topic = ""
        self._producer = Producer(
            _client()
            | {
                "enable.idempotence": True,
                "acks": "all",
                "compression.type": "lz4",
                "linger.ms": 10,
                "partitioner": "murmur2_random",  # as Java's, so that both send a key alike
                "message.max.bytes": MAX_RECORD_BYTES,
                "queue.buffering.max.messages": QUEUED_RECORDS,
                "queue.buffering.max.kbytes": QUEUED_KB,
                "delivery.timeout.ms": DELIVERY_S * 1000,
                "delivery.report.only.error": True,  # a callback per record costs more than sending
            }
        )

    def send(self, event: Event) -> None:
        try:
            self._hand_over(event)
        except BufferError:
            self._wait_for_room(event)
        except KafkaException as failure:
            self._failed, self._first = 1, (event.topic, failure.args[0])
        if self._first:
            self.check(unsettled=0)

    def _hand_over(self, event: Event) -> None:
        self._topic = event.topic
        self._producer.produce(
            event.topic, event.value, event.key, on_delivery=self._delivered, timestamp=event.at_ms
        )

    def _wait_for_room(self, event: Event) -> None:
        deadline = time.monotonic() + DELIVERY_S
        while time.monotonic() < deadline:
            self.listen(POLL_S)
            try:
                return self._hand_over(event)
            except BufferError:
                continue
        raise ProduceError(self._stalled(len(self._producer)))

    def listen(self, seconds: float = 0) -> None:
        """Hear of failures; without it they would show only at the end."""
        self._producer.poll(seconds)
        self.check(unsettled=0)

    def wait_until(self, instant: float) -> None:
        while (left := instant - time.monotonic()) > PACE_S:
            self.listen(min(left, POLL_S))

    def flush(self) -> int:
        """How many records are still unsettled after waiting for all of them."""
        return self._producer.flush(DELIVERY_S)

    def check(self, unsettled: int) -> None:
        if self._first:
            topic, error = self._first
            raise ProduceError(_advice(f"topic {topic}: {self._failed} records not taken", error))
        if unsettled:
            raise ProduceError(self._stalled(unsettled))

    def _stalled(self, records: int) -> str:
        return (
            f"topic {self._topic}: {records} records unacknowledged after {DELIVERY_S} s by Kafka "
            f"at {settings.kafka_bootstrap()}. Look at its log, then send again"
        )

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed += 1
            self._first = self._first or (message.topic() or self._topic, error)


def _client() -> dict[str, Any]:
    return {
        "bootstrap.servers": settings.kafka_bootstrap(),
        "log_level": 2,  # a broker that restarts would fill the screen; what fails is raised
        "reconnect.backoff.max.ms": 1000,
    }


def _advice(what: str, error: KafkaError) -> str:
    where = f"{what} by Kafka at {settings.kafka_bootstrap()}: {error.str()}"
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return (
            f"{where}. A record may have {MAX_RECORD_BYTES:,} bytes here, and no more than "
            "max.message.bytes of its topic; send less, or raise both"
        )
    return f"{where}. Is Kafka running? `lakehouse up` starts it"
