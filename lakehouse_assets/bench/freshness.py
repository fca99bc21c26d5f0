"""From a record's arrival in Kafka to its place in the mart, with the real daemon and its sensors.

The record's clock starts with Kafka's own timestamp (LogAppendTime, the same machine's clock) and
stops when a reader of the mart's head first finds it accounted for: the mart names the batch of
semantic.payments it holds, that one the batch of staging, that one raw's, and raw's its offsets.
"""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.bench._feed import Feed, waits
from lakehouse_assets.bench._lab import doing, lab, say
from lakehouse_assets.commands.readback import arrivals
from lakehouse_assets.lake.catalog import Catalog, NoTable
from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import CHARGES, charges
from lakehouse_assets.sources.produce import ensure_topic, produce

CHAIN = (
    "marts.payments_daily", "semantic.payments", "staging.stg_payment_charges",
    "raw.payment_charges",
)  # fmt: skip
POLL_S = 0.25
PATIENCE_S = 300  # after the last record, for it to become visible
SHOWN_EVERY_S = 10

Offsets = dict[int, int]
Sighting = tuple[float, Offsets]  # epoch seconds; by partition the offset up to which all is there


def run(minutes: float = 5.0, rate: int = 500, seed: int = 7, warmup: int = 60) -> dict[str, Any]:
    """Produce charges at a rate, dirt and all, and measure produce to visible in the mart.

    Sensors, maintenance and the webserver are on, as after `lakehouse up`. `warmup`: seconds of the
    same stream before the measured ones, in which the JVM and the daemon come to speed.
    """
    with lab(Kafka(), Spark()) as place:
        ensure_topic(CHARGES)
        for service in (CodeServer(), Daemon(), Webserver()):
            place.services.append(service)  # stopped first, so that a run can say why it ended
            with doing(f"starting {service.name}"):
                service.start()
        return measure(minutes, rate, seed, warmup)


def measure(minutes: float, rate: int, seed: int, warmup: int) -> dict[str, Any]:
    """The same on services that run already."""
    count = round((minutes * 60 + warmup) * rate)
    feed = Charges(seed, count, rate)
    feed.start()
    began = time.time() + warmup
    try:
        seen = _watch(feed)
    finally:
        feed.stop()
    with doing("reading back when each record arrived"):
        arrived = arrivals(CHARGES)
    measured = {place: at for place, at in arrived.items() if at >= began}
    waited = sorted(_waits(measured, seen))
    unsent = max(feed.sent - len(arrived), 0)  # acknowledged, and not in the topic
    never = len(measured) - len(waited) + unsent
    result = {
        "events": len(measured),
        **waits(waited, never),
        "rate": rate,
        "minutes": minutes,
        "mart_commits": len(seen),
        "sent": feed.sent,
    }
    say(f"{len(measured):,} records: visible in the mart after {result['p50_s']} s (p50), "
        f"{result['p95_s']} s (p95); {never} never")  # fmt: skip
    return result


class Charges(Feed):
    def __init__(self, seed: int, count: int, rate: int) -> None:
        super().__init__()
        self._seed, self._count, self._rate = seed, count, rate

    def send(self) -> None:
        start = datetime.now(timezone.utc)
        produce(self._events(start), paced_from=start)

    def _events(self, start: datetime) -> Iterator[Event]:
        pace = timedelta(seconds=1) / self._rate
        for event in charges(self._seed, self._count, start, interval=pace):
            if self.is_over:
                return
            yield event
            self.sent += 1


def _watch(feed: Feed) -> list[Sighting]:
    """Every state of the mart, until it holds all that was sent (or PATIENCE_S after the end)."""
    catalog, seen = Catalog(), list[Sighting]()
    commit, told, ended = 0, time.monotonic(), 0.0
    while True:
        try:
            head = catalog.head(CHAIN[0])
        except NoTable:
            head = None
        if head and head.stamp.commit > commit:
            commit = head.stamp.commit
            at, offsets = time.time(), _held(catalog)
            seen.append((at, offsets))
        held = sum(seen[-1][1].values()) if seen else 0
        if time.monotonic() - told > SHOWN_EVERY_S:
            told = time.monotonic()
            say(f"sent {feed.sent:,}, in the mart {held:,}, {len(seen)} commits")
        if not feed.is_alive():
            ended = ended or time.monotonic()
            if feed.error:
                raise RuntimeError(f"the feed broke: {feed.error}")
            if held >= feed.sent or time.monotonic() - ended > PATIENCE_S:
                return seen
        time.sleep(POLL_S)


def _held(catalog: Catalog) -> Offsets:
    """Down the chain: which offsets the mart's newest batch accounts for."""
    stamp = catalog.head(CHAIN[0]).stamp
    for parent in CHAIN[1:]:
        consumed = stamp.progress.get(parent, [0, 0])[0]
        newer, _ = catalog.commits(parent, consumed - 1)
        stamp = next(s for s in newer if s.commit == consumed)
    return {int(p): offset for p, offset in stamp.progress.get("next", {}).items()}


def _waits(arrivals: dict[tuple[int, int], float], seen: list[Sighting]) -> Iterator[float]:
    """For each record that became visible, the seconds until then; both go in offset order."""
    places: dict[int, int] = {}
    for partition, offset in sorted(arrivals):
        place = places.get(partition, 0)
        while place < len(seen) and seen[place][1].get(partition, 0) <= offset:
            place += 1
        places[partition] = place
        if place < len(seen):
            yield seen[place][0] - arrivals[partition, offset]
