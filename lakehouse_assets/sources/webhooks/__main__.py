"""`python -m lakehouse_assets.sources.webhooks`: all vendors' webhooks, or those of --only."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from lakehouse_assets.services.webhooks import signing
from lakehouse_assets.sources.command import Asked, Source, command
from lakehouse_assets.sources.webhooks import EVERY, FEEDS, INTERVAL, Dirt, Request, requests
from lakehouse_assets.sources.webhooks.dirt import KINDS
from lakehouse_assets.sources.webhooks.posting import post


def make(asked: Asked) -> Iterator[Request]:
    return requests(
        asked.seed, asked.count, asked.start, Dirt.only(**asked.rates), asked.interval,
        asked.topics, asked.sent_from,
    )  # fmt: skip


def send(
    asked: Asked,
    made: Iterable[Request],
    paced_from: datetime | None,
    on_progress: Callable[[int], None],
) -> int:
    return post(made, signing(), paced_from, on_progress)


if __name__ == "__main__":
    command(
        Source(FEEDS, INTERVAL, EVERY, Dirt().rates(), KINDS, make, send, "requests of all vendors")
    )
