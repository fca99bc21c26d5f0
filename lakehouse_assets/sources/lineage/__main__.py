"""`python -m lakehouse_assets.sources.lineage`: ten events a second, or a count of them."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from lakehouse_assets.sources.command import Asked, Source, command
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.lineage import INTERVAL, PARTITIONS, TOPIC, Dirt, events
from lakehouse_assets.sources.lineage.dirt import KINDS
from lakehouse_assets.sources.produce import ensure_topic, produce


def make(asked: Asked) -> Iterator[Event]:
    return events(
        asked.seed, asked.count, asked.start, Dirt.only(**asked.rates), asked.interval,
        asked.sent_from,
    )  # fmt: skip


def send(
    asked: Asked,
    made: Iterable[Event],
    paced_from: datetime | None,
    on_progress: Callable[[int], None],
) -> int:
    ensure_topic(TOPIC, PARTITIONS)
    return produce(made, paced_from, on_progress)


if __name__ == "__main__":
    names = {"events": TOPIC}
    every = dict.fromkeys(names, 1)
    command(Source(names, INTERVAL, every, Dirt().rates(), KINDS, make, send, "events"))
