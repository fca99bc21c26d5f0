"""How far each raw table is behind its topic, by partition, and since when the oldest record that
it has not taken waits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lakehouse_assets.commands.glance import gap_in, glances, taken_of
from lakehouse_assets.commands.topic_facts import readers_of_topics
from lakehouse_assets.commands.topic_reader import first_times
from lakehouse_assets.topics.kafka import Kafka, NoTopic

Place = tuple[str, int]  # topic, partition


@dataclass
class Behind:
    """A table beside its topic: by partition what it reads next, and what the topic ends at."""

    table: str
    topic: str
    taken: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    note: str = ""  # why it does not go on, or has not begun
    waiting_since: dict[int, float] = field(default_factory=dict)  # epoch seconds

    @property
    def lag(self) -> dict[int, int]:
        return {p: max(0, end - self.taken.get(p, 0)) for p, end in self.ends.items()}

    @property
    def total(self) -> int:
        return sum(self.lag.values())


def lags(topics: Iterable[str]) -> list[Behind]:
    """Of every raw table whose topic is among these, or was and is gone."""
    kafka, found = Kafka(), []
    seen, there = glances(with_kafka=False), set(topics)
    for topic, tables in sorted(readers_of_topics().items()):
        for table in tables:
            progress = seen[table.name].progress if table.name in seen else {}
            if topic in there or progress:
                found.append(_behind(kafka, table.name, topic, progress))
    oldest = first_times({
        (one.topic, p): one.taken[p] for one in found for p, lag in one.lag.items() if lag
    })  # fmt: skip
    for one in found:
        one.waiting_since = {p: oldest[one.topic, p] for p in one.ends if (one.topic, p) in oldest}
    return found


def _behind(kafka: Kafka, table: str, name: str, progress: dict[str, object]) -> Behind:
    """A table that has not begun, or goes on elsewhere, would take all that is there."""
    try:
        topic = kafka.topic(name)
    except NoTopic:
        gone = "its topic is gone: make it again, then lakehouse accept-gap"
        return Behind(table, name, taken_of(progress), note=gone)
    if not progress:
        return Behind(table, name, topic.earliest, topic.latest, "not made yet")
    taken = {p: taken_of(progress).get(p, first) for p, first in topic.earliest.items()}
    if note := gap_in(progress, topic):
        taken = dict(topic.earliest)
    return Behind(table, name, taken, topic.latest, note)
