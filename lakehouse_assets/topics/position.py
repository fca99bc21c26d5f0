"""Where a raw table stands in its topic, and what keeps it from going on.

Progress is the table's own newest commit. Records that Kafka lost before they were read are a gap:
the table stops there until a person accepts it.
"""

from dataclasses import dataclass
from datetime import datetime

from lakehouse_assets.lake.head import Head
from lakehouse_assets.topics.kafka import HOUR, Kafka, NoTopic, Offsets, Topic, hour_of, now


class RecordsLost(Exception):
    """Kafka no longer has records that the table does not have; a person must accept the gap."""


@dataclass(frozen=True)
class Gap:
    """Records that are lost to a raw table, and where it would go on."""

    table: str
    topic: Topic
    what: str  # exactly what would be given up, in words
    generation: int  # after accepting
    following: Offsets  # by partition the next offset to read, after accepting

    def told(self) -> str:
        on = f"the table goes on at {spelled(self.following)}, generation {self.generation}"
        return f"{self.table}: {self.what}; once that is accepted {on}"


def topic_of(kafka: Kafka, head: Head, name: str) -> Topic:
    """A raw table's topic now. One that is not there is a loss if the table has read it before."""
    try:
        return kafka.topic(name)
    except NoTopic:
        if not head.stamp.progress:
            raise NoTopic(f"topic {name} does not exist yet") from None
        raise RecordsLost(
            f"{head.name}: topic {name} is gone; the table has read up to {spelled(_taken(head))}, "
            f"and what came after is lost. Once it is made again (`lakehouse topic {name}`): "
            f"`lakehouse accept-gap {head.name}`"
        ) from None


def spelled(offsets: Offsets) -> str:
    return ", ".join(f"partition {p}: {offset}" for p, offset in sorted(offsets.items()))


def find_gap(head: Head, topic: Topic) -> Gap | None:
    """What keeps the table from going on; None if nothing is missing."""
    progress = head.stamp.progress
    if not progress:
        return None
    generation, taken = progress["generation"], _taken(head)
    if progress["topic_id"] != topic.id:
        return Gap(
            head.name, topic,
            f"topic {topic.name} was deleted and created again (it was {progress['topic_id']}, it "
            f"is {topic.id}). What the old one held from {spelled(taken)} on is gone; how much "
            "that was, nobody can say now", generation + 1, dict(topic.earliest),
        )  # fmt: skip
    start = {p: taken.get(p, 0) for p in topic.latest}
    if back := {p: end for p, end in topic.latest.items() if start[p] > end}:
        return Gap(
            head.name, topic,
            f"topic {topic.name} ends before what was read of it ({spelled(start)} was next, it "
            f"ends at {spelled(back)}): Kafka lost records and uses their offsets again, so the "
            "table goes on from the topic's end", generation + 1, dict(topic.latest),
        )  # fmt: skip
    gone = {p: (a, topic.earliest[p] - 1) for p, a in start.items() if a < topic.earliest[p]}
    if not gone:
        return None
    spans = ", ".join(f"partition {p}: {a} to {b}" for p, (a, b) in sorted(gone.items()))
    count = sum(b - a + 1 for a, b in gone.values())
    return Gap(
        head.name, topic,
        f"Kafka dropped {count:,} records of topic {topic.name} that were never read: {spans}. "
        "Raise the topic's retention", generation,
        {p: max(a, topic.earliest[p]) for p, a in start.items()},
    )  # fmt: skip


def position(head: Head, topic: Topic) -> tuple[int, Offsets]:
    """Generation and next offsets; refuses a topic that lost or replaced what we still wanted."""
    if not head.stamp.progress:
        return 0, dict(topic.earliest)
    if gap := find_gap(head, topic):
        raise RecordsLost(f"{gap.told()}: `lakehouse accept-gap {head.name}`")
    taken = _taken(head)
    return head.stamp.progress["generation"], {p: taken.get(p, 0) for p in topic.latest}


def _taken(head: Head) -> Offsets:
    return {int(p): offset for p, offset in head.stamp.progress["next"].items()}


def progress(topic: Topic, generation: int, following: Offsets) -> dict[str, object]:
    """What a commit says of how far it has come."""
    return {
        "topic": topic.name,
        "topic_id": topic.id,
        "generation": generation,
        "next": {str(p): offset for p, offset in following.items()},
    }


def first_open_hour(kafka: Kafka, topic: Topic, start: Offsets, begin: datetime) -> datetime | None:
    """The oldest hour with unread records; None if there are none. A binary search over hours."""
    if all(start[p] >= topic.latest[p] for p in start):
        return None
    low, high = begin, hour_of(now())
    while low < high:
        middle = low + ((high - low) // HOUR // 2) * HOUR
        bound = kafka.first_at(topic, middle + HOUR)
        if any(start[p] < bound[p] for p in start):
            high = middle
        else:
            low = middle + HOUR
    return low
