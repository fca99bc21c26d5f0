"""Card charges of Stripe, Braintree and Adyen, with the dirt that such feeds have.

A charge is one to three events, pending first and then succeeded or failed, each with an id of its
own and a growing `updated_at`; `created_at` is when the charge was made and never changes. Events
are a function of the arguments alone: no clock, no Kafka, the same bytes every time. What every
table must hold after them is told by `payments_truth`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import count as counting

from lakehouse_assets.sources.event import CLEAN, Event
from lakehouse_assets.sources.payments_dirt import Dirt
from lakehouse_assets.sources.payments_record import TOPIC, record
from lakehouse_assets.sources.payments_stream import Stream

__all__ = ["FIRST_DAY", "INTERVAL", "TOPIC", "Dirt", "Event", "charges", "distinct_charges"]

INTERVAL = timedelta(milliseconds=500)
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
DIRT = Dirt()


def charges(
    seed: int,
    count: int | None,
    start: datetime,
    dirt: Dirt = DIRT,
    interval: timedelta = INTERVAL,
) -> Iterator[Event]:
    """`count` records (None: without end), the i-th made at `start` + i × `interval`.

    No event time lies after the instant its record is made, except the planted year 2099.
    """
    stream = Stream(seed, start, dirt, interval)
    for slot in counting() if count is None else range(count):
        yield stream.event(slot)


def distinct_charges(
    seed: int, count: int, start: datetime = FIRST_DAY, interval: timedelta = INTERVAL
) -> Iterator[Event]:
    """Clean events for benches: each a charge of its own, so every table keeps one row for each."""
    stream = Stream(seed, start, Dirt.none(), interval)
    for slot in range(count):
        at = stream.made_at(slot)
        yield record(stream.settled_charge(at, at), CLEAN)


def main() -> None:
    from lakehouse_assets.sources.command import command  # Kafka only for who sends

    command(TOPIC, INTERVAL, DIRT.rates(), lambda seed, count, start, interval, rates: charges(
        seed, count, start, Dirt.only(**rates), interval
    ))  # fmt: skip


if __name__ == "__main__":
    main()
