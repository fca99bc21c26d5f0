"""When Kafka last heard of the shop's database: a change, or the heartbeat that comes without one.
"""

import time

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from lakehouse_assets.topics.kafka import TIMEOUT_S, Kafka

HEARTBEATS = "__debezium-heartbeat."  # what their topic's name begins with


class Heard(Kafka):
    """The newest records of all that is captured under a prefix, by Kafka's clock."""

    def silence_s(self, prefix: str) -> float | None:
        """Seconds since the newest; None: nothing ever came."""
        spec = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
        wanted = dict.fromkeys(self._places(prefix), spec)
        told = self._ask(self._admin.list_offsets, wanted) if wanted else {}
        newest = max((result.timestamp for result in told.values()), default=-1)
        return max(time.time() - newest / 1000, 0.0) if newest >= 0 else None

    def _places(self, prefix: str) -> list[TopicPartition]:
        try:
            topics = self._admin.list_topics(timeout=TIMEOUT_S).topics
        except KafkaException as error:
            raise self._down(error) from error
        ours = [n for n in topics if n == HEARTBEATS + prefix or n.startswith(f"{prefix}.")]
        return [TopicPartition(name, p) for name in ours for p in topics[name].partitions]
