"""From a webhook at the door to its person in marts.customer_360, with the real daemon and its
sensors.

What is timed is every record of a person that a vendor tells of for the first time. Its clock
starts with Kafka's own timestamp, which the door's 200 waits for, and stops when a reader of the
mart first meets a snapshot in which some entity has the record's id.
"""

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from pyiceberg.exceptions import NoSuchTableError

from lakehouse_assets import settings
from lakehouse_assets.bench._feed import Feed, waits
from lakehouse_assets.bench._lab import doing, lab, say
from lakehouse_assets.bench._vendors import SECRET
from lakehouse_assets.bench.webhooks import records
from lakehouse_assets.commands.compare import catalog
from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.services.webhooks import Webhooks, signing
from lakehouse_assets.sources.event import CLEAN
from lakehouse_assets.sources.produce import ensure_topic
from lakehouse_assets.sources.webhooks import requests
from lakehouse_assets.sources.webhooks.posting import post
from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.vendors import TOPICS, VENDORS

MART = "marts.customer_360"
IDS = {vendor.name: f"{vendor.name}_ids" for vendor in VENDORS}
POLL_S = 0.25
PATIENCE_S = 600  # after the last request, for all to become visible
SETTLED_S = 75  # without a new snapshot after the end, in which sensors look many times

Who = tuple[str, str]  # a system, and its id of somebody
Sighting = tuple[float, int]  # epoch seconds, snapshot


def run(
    minutes: float = 4.0, rate: float = 50.0, seed: int = 7, warmup: int = 60
) -> dict[str, Any]:
    """Post signed webhooks at a rate, dirt and all, and measure door to visible in the mart.

    `warmup`: seconds of the same stream before the measured ones, in which the JVM and the daemon
    come to speed.
    """
    there = {vendor.secret: SECRET for vendor in VENDORS}  # whatever is set outside
    with lab(Kafka(), Spark()) as place, settings.environment(there):
        for topic in TOPICS:
            ensure_topic(topic)
        for service in (Webhooks(), CodeServer(), Daemon(), Webserver()):
            place.services.append(service)
            with doing(f"starting {service.name}"):
                service.start()
        return measure(minutes, rate, seed, warmup)


def measure(minutes: float, rate: float, seed: int, warmup: int) -> dict[str, Any]:
    """The same on services that run already."""
    feed = Posts(seed, round((minutes * 60 + warmup) * rate), rate)
    feed.start()
    began = time.time() + warmup
    try:
        sightings = _watch(feed)
    finally:
        feed.stop()
    with doing("reading back what arrived when, and when it was to be seen"):
        arrived = {who: at for who, at in _arrivals(feed).items() if at >= began}
        seen = _seen(sightings, set(arrived))
    waited = sorted(seen[who] - at for who, at in arrived.items() if who in seen)
    never = len(arrived) - len(waited)
    result = {
        "events": len(arrived),
        **waits(waited, never),
        "rate": rate,
        "minutes": minutes,
        "sent": feed.sent,
        "mart_commits": len(sightings),
    }
    say(f"{len(arrived):,} new records of people at {rate:g} webhooks/s: visible in {MART} after "
        f"{result['p50_s']} s (p50), {result['p95_s']} s (p95); {never} never")  # fmt: skip
    return result


class Posts(Feed):
    def __init__(self, seed: int, count: int, rate: float) -> None:
        super().__init__()
        self.first: dict[str, Who] = {}  # by the webhook's id: who is told of for the first time
        self.gone = set[Who]()
        self._seed, self._count, self._pace = seed, count, timedelta(seconds=1) / rate

    def send(self) -> None:
        start = datetime.now(timezone.utc)
        post(self._requests(start), signing(), paced_from=start)

    def _requests(self, start: datetime) -> Iterator[Request]:
        known = set[Who]()
        for request in requests(self._seed, self._count, start, interval=self._pace):
            if self.is_over:
                return
            if request.known and request.kind == CLEAN and request.known[:2] not in known:
                known.add(request.known[:2])
                self.first[request.ids[0]] = request.known[:2]
            if request.known and "delet" in request.topic:
                self.gone.add(request.known[:2])
            yield request
            self.sent += 1


def _watch(feed: Posts) -> list[Sighting]:
    """Every state of the mart, until it stays as it is after the end: no sensor finds news."""
    tables, seen, ended, quiet_since = catalog(), list[Sighting](), 0.0, 0.0
    while not ended or time.monotonic() - quiet_since < SETTLED_S:
        if ended and time.monotonic() - ended > PATIENCE_S:
            break
        try:
            main = tables.load_table(MART).metadata.current_snapshot_id
        except NoSuchTableError:
            main = None
        if main is not None and (not seen or seen[-1][1] != main):
            seen.append((time.time(), main))
            quiet_since = time.monotonic()
        if feed.error:
            raise RuntimeError(f"the feed broke: {feed.error}")
        if not feed.is_alive() and not ended:
            ended = quiet_since = time.monotonic()
        time.sleep(POLL_S)
    return seen


def _arrivals(feed: Posts) -> dict[Who, float]:
    """When Kafka had the first record of each who was not deleted since."""
    found: dict[Who, float] = {}
    for record in records():
        who = feed.first.get(json.loads(record.value() or b"{}").get("_webhook_id", ""))
        if who and who not in feed.gone:
            at = record.timestamp()[1] / 1000
            found[who] = min(at, found.get(who, at))
    return found


def _seen(sightings: list[Sighting], wanted: set[Who]) -> dict[Who, float]:
    table, found = catalog().load_table(MART), dict[Who, float]()
    for at, snapshot in sightings:
        rows = table.scan(snapshot_id=snapshot, selected_fields=tuple(IDS.values())).to_arrow()
        for source, column in IDS.items():
            every = {(source, one) for ids in rows.column(column).to_pylist() for one in ids}
            found |= {who: at for who in every & wanted if who not in found}
    return found
