"""From a reading to its minute in PostgreSQL, with the real daemon and its sensors.

A reading's clock starts with the moment that the logging server gives its record, and stops when
somebody who asks PostgreSQL first finds as many readings of its city and minute as there were by
then. No stamp of the lake is asked.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg

from lakehouse_assets.bench._feed import Feed, waits
from lakehouse_assets.bench._lab import doing, lab, say
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.serving.database import pages_dsn
from lakehouse_assets.sources.oracle import Delivered
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import A_ROUND, Reading, readings

ASKED = "select city, window_start, record_count from weather"
POLL_S = 0.25
PATIENCE_S = 180  # after the last reading, for it to become visible

Minute = tuple[bytes, datetime]  # a city and the begin of its minute
Sighting = tuple[float, dict[Minute, int]]  # epoch seconds; readings that changed in number


def run(minutes: float = 2.0, rate: float = 2.0, seed: int = 7, warmup: int = 60) -> dict[str, Any]:
    """Log readings at a rate, ten at once, and measure logged to visible in PostgreSQL.

    Sensors, maintenance and the webserver are on, as after `lakehouse up weather`. `warmup`:
    seconds of the same stream before the measured ones, in which the JVM and the daemon come to
    speed.
    """
    with lab(Kafka(), Spark(), Postgres()) as place:
        for service in (Weather(), CodeServer(), Daemon(), Webserver()):
            place.services.append(service)
            with doing(f"starting {service.name}"):
                service.start()
        return measure(minutes, rate, seed, warmup)


def measure(minutes: float, rate: float, seed: int, warmup: int) -> dict[str, Any]:
    """The same on services that run already."""
    feed = Logged(seed, round((minutes * 60 + warmup) * rate), rate)
    feed.start()
    began = time.time() + warmup
    try:
        seen = _watch(feed)
    finally:
        feed.stop()
    every = read_back([TOPIC])
    measured = [r for r in every if r.arrived_at.timestamp() >= began]
    waited = sorted(_waits(every, measured, seen))
    never = len(measured) - len(waited) + max(feed.sent - len(every), 0)
    result = {
        "events": len(measured),
        **waits(waited, never),
        "rate": rate,
        "minutes": minutes,
        "sent": feed.sent,
        "transactions_seen": len(seen),
    }
    say(f"{len(measured):,} readings: in PostgreSQL after {result['p50_s']} s (p50), "
        f"{result['p95_s']} s (p95); {never} never")  # fmt: skip
    return result


class Logged(Feed):
    def __init__(self, seed: int, count: int, rate: float) -> None:
        super().__init__()
        self._seed, self._count = seed, count
        self._every = timedelta(seconds=A_ROUND / rate)

    def send(self) -> None:
        start = datetime.now(timezone.utc)
        log(self._readings(start), paced_from=start)

    def _readings(self, start: datetime) -> Iterator[Reading]:
        for reading in readings(self._seed, self._count, start, self._every):
            if self.is_over:
                return
            yield reading
            self.sent += 1


def _watch(feed: Logged) -> list[Sighting]:
    """Every state of the table, until it holds all that was sent (or PATIENCE_S after the end)."""
    seen, known, ended = list[Sighting](), dict[Minute, int](), 0.0
    with psycopg.connect(pages_dsn(), autocommit=True) as pages:
        while True:
            found = _minutes(pages)
            if changed := {minute: n for minute, n in found.items() if known.get(minute) != n}:
                seen.append((time.time(), changed))
                known = found
            if feed.error:
                raise RuntimeError(f"the feed broke: {feed.error}")
            if not feed.is_alive():
                ended = ended or time.monotonic()
                if sum(known.values()) >= feed.sent or time.monotonic() - ended > PATIENCE_S:
                    return seen
            time.sleep(POLL_S)


def _minutes(pages: psycopg.Connection) -> dict[Minute, int]:
    found = pages.execute(ASKED.encode()).fetchall()
    return {(city.encode(), at.replace(tzinfo=timezone.utc)): n for city, at, n in found}


def _waits(
    every: list[Delivered], measured: list[Delivered], seen: list[Sighting]
) -> Iterator[float]:
    """For each measured reading that became visible, the seconds until then. Of one city's minute
    readings come in their order, since they share a partition.
    """
    wanted = {(r.partition, r.offset) for r in measured}
    ranks = defaultdict[Minute, int](int)
    for record in sorted(every, key=lambda r: (r.partition, r.offset)):
        minute = (record.key or b"", record.arrived_at.replace(second=0, microsecond=0))
        ranks[minute] += 1
        if (record.partition, record.offset) in wanted:
            rank = ranks[minute]
            at = next((at for at, found in seen if found.get(minute, 0) >= rank), None)
            if at is not None:
                yield at - record.arrived_at.timestamp()
