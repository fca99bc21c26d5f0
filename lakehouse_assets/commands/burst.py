"""What the demo sends: dirty payments straight to Kafka, webhooks through their door, weather
through its logging server and around it; and the shop that it makes, whose changes are captured.
"""

import time
from collections import Counter
from dataclasses import fields, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from lakehouse_assets.commands.compare import Compared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from lakehouse_assets.commands.readback import Sent
    from lakehouse_assets.sources.oracle import Delivered
    from lakehouse_assets.sources.payments import Dirt

RAREST, COMMONEST = 0.03, 0.4  # share of the events that disputes have, and that charges have
MOST = 0.015  # planted of a kind for its own sake; all kinds together must leave room
HUGE = 5_000_000  # bytes of the one oversized record
CUSTOMERS, PRODUCTS, ORDERS = 150, 40, 300  # of the shop, before anything happens in it
TRANSACTIONS = 200
READINGS, AROUND = 200, 400  # through the logging server, and dirty ones of the last hour around it


def send_payments(console: "Console", events: int, seed: int, sent: "Sent") -> None:
    from lakehouse_assets.sources.payments import INTERVAL, TOPICS, payments
    from lakehouse_assets.sources.produce import ensure_topic, produce

    for topic in TOPICS:
        ensure_topic(topic)
    start = datetime.now(timezone.utc) - events * INTERVAL  # so that no event is yet to come
    begin = time.monotonic()
    count = produce(sent.noting(payments(seed, events, start, _every_kind(events))))
    seconds = time.monotonic() - begin
    console.print(f"{count:,} events sent to {len(TOPICS)} topics in {seconds:.1f} s")


def send_lineage(console: "Console", count: int, seed: int, sent: "Sent") -> None:
    """With some of every kind of dirt, whatever the count."""
    from lakehouse_assets.sources.lineage import INTERVAL, PARTITIONS, TOPIC, Dirt, events
    from lakehouse_assets.sources.produce import ensure_topic, produce

    ensure_topic(TOPIC, PARTITIONS)
    start = datetime.now(timezone.utc) - count * INTERVAL
    dirt = Dirt(*[max(rate, 4 / max(count, 40)) for rate in Dirt().rates().values()])
    done = produce(sent.noting(events(seed, count, start, dirt)))
    console.print(f"{done:,} Avro records sent to {TOPIC}")


def _every_kind(events: int) -> "Dirt":
    """Of every kind of dirt at least one in every topic that has it, as far as a short burst has
    room for that, and a record of 5 MB.
    """
    from lakehouse_assets.sources.payments import Dirt

    usual = Dirt()
    rates = {f.name: getattr(usual, f.name) for f in fields(usual) if f.name in usual.rates()}
    once = min(1 / (RAREST * events), MOST)
    at_least = {kind: max(rate, once) for kind, rate in rates.items()}
    huge = {"oversized": 1 / (COMMONEST * events)}
    return replace(usual, **at_least | huge, oversized_bytes=HUGE)


def send_webhooks(
    console: "Console", count: int, seed: int, start: datetime
) -> "Counter[str]":
    """How many records each topic must get: the door takes nothing twice, and opens for nobody
    whose secret it does not have.
    """
    from lakehouse_assets.services.webhooks import signing
    from lakehouse_assets.sources.webhooks import requests
    from lakehouse_assets.sources.webhooks.delivered import once
    from lakehouse_assets.sources.webhooks.posting import post

    secrets = signing()
    made = [request for request in requests(seed, count, start) if request.vendor in secrets]
    begin = time.monotonic()
    post(made, secrets)
    seconds = time.monotonic() - begin
    console.print(f"{len(made):,} signed requests through the webhooks' door in {seconds:.1f} s")
    return Counter(event.topic for event in once(made))


def webhooks_begin(count: int) -> datetime:
    """So that no request is yet to come."""
    from lakehouse_assets.sources.webhooks import INTERVAL

    return datetime.now(timezone.utc) - count * INTERVAL


def make_shop(console: "Console", seed: int, webhooks: int, start: datetime) -> None:
    """Years of a small shop, if there is none yet, and then some transactions in it. Some of its
    customers are those of whom so many webhooks from this start on tell.
    """
    from threading import Event as Never

    from lakehouse_assets.sources.storefront.database import is_empty, writer
    from lakehouse_assets.sources.storefront.live import Flow
    from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
    from lakehouse_assets.sources.storefront.traffic import utc_now
    from lakehouse_assets.sources.webhooks import people_of

    begin = time.monotonic()
    with writer() as connection:
        if is_empty(connection):
            people = people_of(seed, webhooks, start)
            sizes = Sizes(CUSTOMERS, PRODUCTS, ORDERS)
            seed_shop(connection, sizes, seed, utc_now(), people=people)
    flow = Flow(seed, 0, TRANSACTIONS)
    flow.run(Never(), lambda done: None)
    seconds = time.monotonic() - begin
    console.print(f"{flow.done} transactions in a shop of its own in {seconds:.1f} s")


def send_weather(console: "Console", seed: int) -> "Counter[str]":
    """How many records its topic must get."""
    from lakehouse_assets.sources.produce import ensure_topic, produce
    from lakehouse_assets.sources.weather import TOPIC, TOPIC_CONFIG
    from lakehouse_assets.sources.weather.around import around
    from lakehouse_assets.sources.weather.client import log
    from lakehouse_assets.sources.weather.readings import readings

    begin, now = time.monotonic(), datetime.now(timezone.utc)
    ensure_topic(TOPIC, config=TOPIC_CONFIG)
    pace = timedelta(hours=1) / AROUND
    count = produce(around(seed, AROUND, now - AROUND * pace, pace))
    count += log(readings(seed, READINGS, now))
    seconds = time.monotonic() - begin
    console.print(f"{count} readings, {READINGS} through the logging server, in {seconds:.1f} s")
    return Counter({TOPIC: count})


def as_posted(expected: "Counter[str]", records: "Iterable[Delivered]") -> list[Compared]:
    """By topic: as many records as were sent; each brings the time at which the door took it."""
    held = Counter(record.topic for record in records if record.topic in expected)
    found = []
    for topic, count in sorted(expected.items()):
        lost, again = max(count - held[topic], 0), max(held[topic] - count, 0)
        found.append(Compared(f"kafka.{topic}", held[topic], lost, again, good="as sent"))
    return found
