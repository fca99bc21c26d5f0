"""Records of topics as a plain consumer reads them: committed ones, bounded, with no group's
progress; what was aborted is never seen.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.topics.kafka import Topic

QUEUED_KB = 16_384
AT_ONCE = 500  # records that are taken from the consumer
POLL_S = 0.2
AGES_S = 5  # for the first records of all partitions together
STEP = 4  # times as many offsets are looked through, back from the end, as the last time

Place = tuple[str, int]  # topic, partition
Matches = Callable[[Message], bool]


@dataclass
class Found:
    """What a search came to."""

    records: list[Message] = field(default_factory=list)
    looked_at: int = 0
    is_whole: bool = True  # False: the time was over first
    more: bool = False  # there may be further ones behind the last


def first_times(starts: Mapping[Place, int]) -> dict[Place, float]:
    """When the first record from each place on came: epoch seconds; none where only markers are."""
    found: dict[Place, float] = {}
    open_, deadline = set(starts), time.monotonic() + AGES_S
    with _reading(starts) as consumer:
        for message in _until(consumer, open_, deadline):
            if (place := _place(message)) in open_:
                found[place] = message.timestamp()[1] / 1000
                open_.discard(place)
                consumer.pause([TopicPartition(*place)])
    return found


def forward(
    topic: Topic, starts: Mapping[int, int], matches: Matches, count: int, seconds: float
) -> Found:
    """The first that match, by time, of those that are there now."""
    kept: dict[Place, list[Message]] = {}
    found, deadline = Found(), time.monotonic() + seconds
    places = {(topic.name, p): s for p, s in starts.items() if s < topic.latest[p]}
    open_ = set(places)
    with _reading(places) as consumer:
        for message in _until(consumer, open_, deadline):
            place, offset = _place(message), message.offset() or 0
            if place not in open_:
                continue
            found.looked_at += 1
            if offset < topic.latest[place[1]] and matches(message):
                kept.setdefault(place, []).append(message)
            full = len(kept.get(place, [])) >= count
            if full or offset + 1 >= topic.latest[place[1]]:
                found.more |= full and offset + 1 < topic.latest[place[1]]
                open_.discard(place)
                consumer.pause([TopicPartition(*place)])
    found.is_whole = not open_
    return _chosen(found, [m for some in kept.values() for m in some], slice(0, count))


def newest(topic: Topic, partitions: list[int], count: int, seconds: float) -> Found:
    """The last that there are, by time. How far back those begin is tried: markers of transactions
    and aborted records have offsets, too.
    """
    kept: list[Message] = []
    found, deadline, back = Found(), time.monotonic() + seconds, count + 1
    missing = [p for p in partitions if topic.earliest[p] < topic.latest[p] and count]
    while missing and found.is_whole:
        starts = {p: max(topic.earliest[p], topic.latest[p] - back) for p in missing}
        last, found.is_whole = _last(topic, starts, count, deadline)
        found.looked_at += sum(map(len, last.values()))
        done = [p for p in missing if len(last[p]) >= count or starts[p] <= topic.earliest[p]]
        missing = [p for p in missing if p not in done]
        kept += [m for p in (done if found.is_whole else last) for m in last[p]]
        back *= STEP
    return _chosen(found, kept, slice(-count if count else 0, None))


def following(
    topic: Topic, starts: Mapping[int, int], matches: Matches, seconds: float | None
) -> Iterator[Message]:
    """What matches, as it comes, until the time is over."""
    deadline = time.monotonic() + seconds if seconds is not None else None
    with _reading({(topic.name, p): start for p, start in starts.items()}) as consumer:
        yield from filter(matches, _until(consumer, {("", 0)}, deadline))


def _last(
    topic: Topic, starts: Mapping[int, int], count: int, deadline: float
) -> tuple[dict[int, "deque[Message]"], bool]:
    last: dict[int, deque[Message]] = {p: deque(maxlen=count) for p in starts}
    open_ = {(topic.name, p) for p in starts}
    with _reading({(topic.name, p): start for p, start in starts.items()}) as consumer:
        for message in _until(consumer, open_, deadline):
            partition, offset = _place(message)[1], message.offset() or 0
            if offset < topic.latest[partition]:
                last[partition].append(message)
            if offset + 1 >= topic.latest[partition]:
                open_.discard(_place(message))
    return last, not open_


def _until(
    consumer: Consumer, open_: set[Place], deadline: float | None
) -> Iterator[Message]:
    """Records until every place is at its end, which leaves `open_`, or the time is over."""
    while open_ and (deadline is None or time.monotonic() < deadline):
        for message in consumer.consume(AT_ONCE, timeout=POLL_S):
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                open_.discard(_place(message))
            else:
                raise ServiceError(f"Kafka: {error.str()}; see `lakehouse logs kafka`")


@contextmanager
def _reading(starts: Mapping[Place, int]) -> Iterator[Consumer]:
    consumer = Consumer({
        "bootstrap.servers": settings.kafka_bootstrap(), "group.id": "lakehouse-topics",
        "enable.auto.commit": False, "isolation.level": "read_committed",
        "enable.partition.eof": True, "auto.offset.reset": "earliest", "log_level": 2,
        "queued.min.messages": AT_ONCE, "queued.max.messages.kbytes": QUEUED_KB,
    })  # fmt: skip
    try:
        consumer.assign([TopicPartition(*place, start) for place, start in starts.items()])
        yield consumer
    finally:
        consumer.close()


def _place(message: Message) -> Place:
    return message.topic() or "", message.partition() or 0


def by_time(message: Message) -> tuple[int, int, int]:
    return message.timestamp()[1], message.partition() or 0, message.offset() or 0


def _chosen(found: Found, records: list[Message], which: slice) -> Found:
    ranked = sorted(records, key=by_time)
    found.more |= len(ranked) > len(ranked[which])
    found.records = ranked[which]
    return found
