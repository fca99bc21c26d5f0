"""What a topic holds, read by a plain consumer, beside what was sent to it."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from lakehouse_assets import settings
from lakehouse_assets.commands.compare import Compared
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.oracle import Delivered

READ_S = 120  # for all topics
LEADER_S = 20  # for a partition to be led
ELECTING = ("NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE")
RECORD_BYTES = 10_000_000
Place = tuple[str, int]  # topic, partition


class Sent:
    """What was handed to Kafka: tables that equal a topic which lacks records prove little."""

    def __init__(self) -> None:
        self._values = Counter[tuple[str, int]]()

    @property
    def count(self) -> int:
        return self._values.total()

    def noting(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self._values[event.topic, hash(event.value)] += 1
            yield event

    def beside(self, records: Iterable[Delivered]) -> list[Compared]:
        """By topic: each value as often there as it was sent."""
        held = Counter((record.topic, hash(record.value)) for record in records)
        topics = sorted({topic for topic, _ in (*held, *self._values)})
        return [self._beside(topic, held) for topic in topics]

    def _beside(self, topic: str, every: "Counter[tuple[str, int]]") -> Compared:
        sent, held = (
            Counter({value: n for value, n in counted.items() if value[0] == topic})
            for counted in (self._values, every)
        )
        lacking, extra = sent - held, held - sent
        again = sum(count for value, count in extra.items() if value in sent)
        found = Compared(f"kafka.{topic}", held.total(), lacking.total(), again, good="as sent")
        found.wrong = extra.total() - again
        if not found.is_equal:
            found.note("sent", (sent.total(),), f"records, the topic holds {found.rows}")
        return found


def ends(topics: Iterable[str]) -> dict[Place, int]:
    """The offset that the next record gets; nothing for a topic that is not there."""
    consumer = _consumer()
    try:
        return {place: end for place, (_, end) in _marks(consumer, topics).items()}
    finally:
        consumer.close()


def since(records: Iterable[Delivered], before: Mapping[Place, int]) -> list[Delivered]:
    return [r for r in records if r.offset >= before.get((r.topic, r.partition), 0)]


def read_back(topics: Iterable[str]) -> list[Delivered]:
    """Every record that the topics hold, topic by topic; refused if one no longer holds all that it
    ever did.
    """
    consumer = _consumer()
    try:
        marks = _marks(consumer, topics)
        if dropped := [topic for (topic, _), (first, _) in marks.items() if first]:
            raise ServiceError(
                f"Kafka has dropped old records of {dropped[0]}, so what the tables must hold can "
                "no longer be computed. `lakehouse wipe` begins anew"
            )
        return sorted(map(_delivered, _messages(consumer, marks)), key=lambda record: record.topic)
    finally:
        consumer.close()


def arrivals(topic: str) -> dict[tuple[int, int], float]:
    """By partition and offset, when Kafka received each record that is there: epoch seconds."""
    consumer = _consumer()
    try:
        read = map(_delivered, _messages(consumer, _marks(consumer, [topic])))
        return {(r.partition, r.offset): r.arrived_at.timestamp() for r in read}
    finally:
        consumer.close()


def _consumer() -> Consumer:
    return Consumer({
        "bootstrap.servers": settings.kafka_bootstrap(), "group.id": "lakehouse-compare",
        "enable.auto.commit": False, "isolation.level": "read_committed",
        "enable.partition.eof": True, "fetch.message.max.bytes": RECORD_BYTES, "log_level": 2,
    })  # fmt: skip


def _marks(consumer: Consumer, topics: Iterable[str]) -> dict[Place, tuple[int, int]]:
    """The first offset that is there, and the next one that will be."""
    there = consumer.list_topics(timeout=10).topics
    places = [(t, p) for t in topics if t in there for p in there[t].partitions]
    return {place: _ends_of(consumer, place) for place in places}


def _ends_of(consumer: Consumer, place: Place) -> tuple[int, int]:
    """A broker that has just come up may not lead its partitions yet."""
    deadline = time.monotonic() + LEADER_S
    while True:
        try:
            first, end = consumer.get_watermark_offsets(TopicPartition(*place), timeout=10)
            return first, end
        except KafkaException as failure:
            if time.monotonic() > deadline or failure.args[0].name() not in ELECTING:
                raise ServiceError(f"{place[0]}: {failure}; see `lakehouse logs kafka`") from None
            time.sleep(0.2)


def _messages(
    consumer: Consumer, marks: Mapping[Place, tuple[int, int]]
) -> Iterator[Message]:
    """Up to each partition's end, wherever that is: aborted records and markers leave gaps. All
    topics at once: a consumer takes a second or two to find a topic's leaders.
    """
    consumer.assign([TopicPartition(*place, first) for place, (first, _) in marks.items()])
    unfinished = set(marks)
    deadline = time.monotonic() + READ_S
    while unfinished:
        if time.monotonic() > deadline:
            late = ", ".join(sorted({topic for topic, _ in unfinished}))
            raise ServiceError(f"{late} could not be read back within {READ_S} s; see "
                               "`lakehouse logs kafka`")  # fmt: skip
        for message in consumer.consume(10_000, timeout=0.2):
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                unfinished.discard((message.topic() or "", message.partition() or 0))
            else:
                raise ServiceError(f"Kafka: {error}; see `lakehouse logs kafka`")


def _delivered(message: Message) -> Delivered:
    arrived = datetime.fromtimestamp(message.timestamp()[1] / 1000, timezone.utc)
    place = (message.topic() or "", message.partition() or 0, message.offset() or 0)
    return Delivered(*place, arrived, message.key(), message.value())
