"""`python -m lakehouse_assets.sources.payments`: all six feeds, or those of --only."""

from collections.abc import Iterator

from lakehouse_assets.sources.command import Asked, Source, command, to_kafka
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import EVERY, FEEDS, INTERVAL, Dirt, payments
from lakehouse_assets.sources.payments.dirt import KINDS


def make(asked: Asked) -> Iterator[Event]:
    return payments(
        asked.seed, asked.count, asked.start, Dirt.only(**asked.rates), asked.interval,
        asked.topics, asked.sent_from,
    )  # fmt: skip


if __name__ == "__main__":
    paced = "charges, and the others in proportion,"
    command(Source(FEEDS, INTERVAL, EVERY, Dirt().rates(), KINDS, make, to_kafka, paced))
