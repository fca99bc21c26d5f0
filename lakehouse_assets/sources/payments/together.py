"""All feeds by one clock: what is about a charge follows it, whoever it mentions is told of first.

The same arguments give the same events whichever topics are asked for, so that feeds that run
apart tell of one world.
"""

from collections import deque
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from itertools import count as counting
from itertools import islice

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments.charge import ChargeFeed
from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.dispute import DisputeFeed
from lakehouse_assets.sources.payments.feed import Feed, Made
from lakehouse_assets.sources.payments.past import Past
from lakehouse_assets.sources.payments.record import CHARGES, SHAPES
from lakehouse_assets.sources.payments.reference import CustomerFeed, MerchantFeed, ReferenceFeed
from lakehouse_assets.sources.payments.refund import RefundFeed
from lakehouse_assets.sources.payments.subscription import SubscriptionFeed

INTERVAL = timedelta(milliseconds=500)
FEED_OF: dict[str, type[Feed]] = {
    feed.shape.topic: feed
    for feed in (ChargeFeed, RefundFeed, DisputeFeed, SubscriptionFeed, CustomerFeed, MerchantFeed)
}
TOPICS = tuple(shape.topic for shape in SHAPES)
SILENCE = 5_000  # records of other topics in a row, after which none of the wanted will ever come
AHEAD = 600  # charges that are made before the first of them is sent: refunds may precede those
DIRT = Dirt()


def payments(
    seed: int,
    count: int | None,
    start: datetime,
    dirt: Dirt = DIRT,
    interval: timedelta = INTERVAL,
    only: Collection[str] = TOPICS,
    sent_from: datetime | None = None,
) -> Iterator[Event]:
    """`count` records of these topics, a charge each `interval`, the others in proportion.

    `sent_from`: events made before it are left out, but what is known of customers and merchants.
    No event time lies after the instant its record is made, except the planted year 2099. Refused
    when there is nothing to tell of: all else is about charges, and no charge is good.
    """
    made = _Clock(seed, start, dirt, interval).events()
    since_ms = int(sent_from.timestamp() * 1000) if sent_from else 0
    known = {CustomerFeed.shape.topic, MerchantFeed.shape.topic}
    wanted = _heard(made, only)
    return islice((e for e in wanted if e.made_ms >= since_ms or e.topic in known), count)


def _heard(made: Iterator[Event], only: Collection[str]) -> Iterator[Event]:
    silent = 0
    for event in made:
        silent = 0 if event.topic in only else silent + 1
        if silent > SILENCE:
            raise ValueError(
                f"no record of {', '.join(only)} among {SILENCE:,}: they are about charges that "
                "took the money, and with this much dirt there are none. Lower its rates"
            )
        if event.topic in only:
            yield event


def charges(
    seed: int,
    count: int | None,
    start: datetime,
    dirt: Dirt = DIRT,
    interval: timedelta = INTERVAL,
) -> Iterator[Event]:
    """Charges alone, the i-th made at `start` + i × `interval`: the same as among all payments."""
    feed = ChargeFeed(seed, start, dirt, interval)
    for slot in counting() if count is None else range(count):
        if event := feed.event(slot):
            yield event


def distinct_charges(
    seed: int, count: int, start: datetime, interval: timedelta = INTERVAL
) -> Iterator[Event]:
    """Clean events for benches: each a charge of its own, so every table keeps one row for each."""
    feed = ChargeFeed(seed, start, Dirt.none(), interval)
    for slot in range(count):
        at = feed.made_at(slot)
        if made := feed.settled(at, at):
            yield CHARGES.record(made.fields, "clean")._replace(made_ms=at)


class _Clock:
    """The charges, slot by slot, and at its turns every other feed."""

    def __init__(self, seed: int, start: datetime, dirt: Dirt, interval: timedelta) -> None:
        run = (seed, start, dirt, interval)
        self._past, self._charges = Past(), ChargeFeed(*run)
        self._customers, self._merchants = CustomerFeed(*run), MerchantFeed(*run)
        self._others: tuple[Feed, ...] = (
            RefundFeed(*run, self._past), DisputeFeed(*run, self._past), SubscriptionFeed(*run),
            self._customers, self._merchants,
        )  # fmt: skip
        pool = self._charges.pools
        self._numbers: dict[str, tuple[ReferenceFeed, int]] = {
            fields[column]: (feed, number)
            for column, feed, people in (
                ("customer_id", self._customers, pool.customers),
                ("merchant_id", self._merchants, pool.merchants),
            )
            for number, fields in enumerate(people)
        }

    def events(self) -> Iterator[Event]:
        ahead: deque[tuple[Event, Made | None]] = deque()
        for slot in counting():
            while len(ahead) <= AHEAD:
                ahead.append(self._charge(slot + len(ahead)))
            event, made = ahead.popleft()
            if made:
                yield from self._told(made, event.made_ms)
                self._settle(made)
            yield event
            for feed in self._others:
                if slot and slot % feed.every == 0 and (other := feed.event(slot // feed.every)):
                    yield other

    def _charge(self, slot: int) -> tuple[Event, Made | None]:
        event = self._charges.event(slot)
        assert event is not None  # a charge can always be made
        made = self._charges.good
        if event.kind == "late" and made and Past.is_settled(made):
            self._past.coming.append(made)
        return event, made

    def _told(self, made: Made, at: int) -> Iterator[Event]:
        """What is known of the customer and the merchant, if they were not mentioned before."""
        for column in ("customer_id", "merchant_id"):
            if made.fields[column] in self._numbers:
                feed, number = self._numbers[made.fields[column]]
                if event := feed.meet(number, at):
                    yield event

    def _settle(self, made: Made) -> None:
        """The charge has been heard of; refunds and disputes of it may follow."""
        if Past.is_settled(made):
            if self._past.coming and self._past.coming[0] is made:
                self._past.coming.popleft()
            self._past.settled.append(made)
