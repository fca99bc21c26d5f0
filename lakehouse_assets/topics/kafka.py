"""What a topic holds: its identity, its offsets, and where its hours begin. Bounded, read-
committed, never a group.

Progress is the table's own; nothing here is committed back to Kafka.
"""

import time
from concurrent.futures import TimeoutError as FutureTimeout  # Python 3.10 has two
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from lakehouse_assets import settings

TIMEOUT_S = 5
ELECTING = {"NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE"}  # a topic that was just made
ATTEMPTS, PAUSE_S = 10, 0.2
HOUR = timedelta(hours=1)

Offsets = dict[int, int]  # partition -> offset


class KafkaDown(Exception):
    """No answer from Kafka: says where it was looked for and how to start it."""


class NoTopic(Exception):
    """The topic does not exist yet; nothing was ever produced to it."""


@dataclass(frozen=True)
class Topic:
    """A topic at one moment."""

    name: str
    id: str
    earliest: Offsets
    latest: Offsets


class Kafka:
    def __init__(self, bootstrap: str = "") -> None:
        self.bootstrap = bootstrap or settings.kafka_bootstrap()
        conf: dict[str, str | int | float | bool] = {
            "bootstrap.servers": self.bootstrap,
            "log_level": 0,
            "socket.timeout.ms": TIMEOUT_S * 1000,
        }
        self._admin = AdminClient(conf)

    def topic(self, name: str) -> Topic:
        described = self._ask(self._admin.describe_topics, TopicCollection([name]))[name]
        partitions = [p.id for p in described.partitions]
        first, last = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
        earliest = self._offsets(name, partitions, first)
        latest = self._offsets(name, partitions, last)
        return Topic(name, str(described.topic_id), earliest, latest)

    def first_at(self, topic: Topic, moment: datetime) -> Offsets:
        """Per partition the first offset whose record is not older; the end if all are."""
        spec = OffsetSpec.for_timestamp(int(moment.timestamp() * 1000))
        found = self._offsets(topic.name, list(topic.latest), spec)
        return {p: found[p] if found[p] >= 0 else topic.latest[p] for p in topic.latest}

    def _offsets(self, name: str, partitions: list[int], spec: OffsetSpec) -> Offsets:
        wanted = {TopicPartition(name, p): spec for p in partitions}
        committed = IsolationLevel.READ_COMMITTED
        answers = self._ask(self._admin.list_offsets, wanted, isolation_level=committed)
        return {tp.partition: result.offset for tp, result in answers.items()}

    def _ask(self, call: Any, what: Any, tries: int = ATTEMPTS, **options: Any) -> dict[Any, Any]:
        try:
            futures = call(what, request_timeout=TIMEOUT_S, **options)
            return {k: future.result(timeout=TIMEOUT_S + 1) for k, future in futures.items()}
        except KafkaException as error:
            if error.args[0].name() == "UNKNOWN_TOPIC_OR_PART":
                raise NoTopic(str(error.args[0].str())) from error
            if error.args[0].name() not in ELECTING or tries == 1:
                raise self._down(error) from error
        except FutureTimeout as error:
            raise self._down(error) from error
        time.sleep(PAUSE_S)
        return self._ask(call, what, tries - 1, **options)

    def _down(self, error: Exception) -> KafkaDown:
        return KafkaDown(
            f"Kafka does not answer at {self.bootstrap} ({error}); "
            "start it with `lakehouse up kafka`, or name yours in LAKEHOUSE_KAFKA"
        )


def hour_of(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)


def now() -> datetime:
    return datetime.now(timezone.utc)
