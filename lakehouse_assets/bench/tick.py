"""A sensor-sized run, raw to marts, process start included, on a small lake and on a large one.

Both lakes read the same topic: the large one's history was sent first and then deleted from Kafka,
so that each round's new charges are the same for both, in turns, on one warm Spark server. History
arrived when it was made, a day of it at a time; what is new arrives now.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from statistics import median
from typing import Any

from lakehouse_assets import settings
from lakehouse_assets.bench._group import forget
from lakehouse_assets.bench._lab import Lab, catch_up, doing, lab, say
from lakehouse_assets.bench._soak import endure
from lakehouse_assets.bench._ticks import (
    HALF_AN_HOUR,
    all_topics,
    charges,
    everything,
    source,
    timed_run,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.orchestration.sensors import Look, look
from lakehouse_assets.services.dagster import Daemon, dagster_env
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import CHARGES, TOPICS
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import hour_of, now

MART = "marts.payments_daily"
BATCH = 500_000  # rows of history in one batch
# Timestamps are the producer's, and what is old by them stays.
KEEPS_TIME = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
DAY_MS, EVENING_MS = 86_400_000, 23 * 3_600_000
SMALL, LARGE = "small", "large"


def run(
    new: int = 10_000,
    rows: int = 20_000,
    days: int = 2,
    times: int = 100,
    repeats: int = 5,
    seed: int = 7,
    mixed: bool = False,
    soak: bool = False,
    soak_commits: int = 10_000,
    soak_new: int = 100,
    soak_from: int = 100,
) -> dict[str, Any]:
    """Time runs of `new` charges on a lake of `rows` over `days` and on one of `times` the rows:
    until the day's payments show them, and to the end of the run, which brings up all that is made
    of charges.

    `mixed`: events of all payment topics instead, dirt and all. The large lake has ten times the
    days at `times`=100 (its square root), so it has more days and bigger days. `soak`: go on to
    `soak_commits` commits of `soak_new` charges each on one lake, and time the same run at commit
    `soak_from` and at the last; takes hours. Ctrl-C ends it early, with the figures so far.
    """
    large_days = round(days * times**0.5)
    begin = hour_of(now()) - timedelta(large_days + 1)
    first = {"LAKEHOUSE_FIRST_HOUR": f"{begin:{settings.HOUR_FORMAT}}"}
    with lab(Kafka(), Spark()) as place, settings.environment(dagster_env() | first):
        Daemon().prepare()  # the instance only; the daemon is not started
        for topic in TOPICS if mixed else (CHARGES,):
            ensure_topic(topic, config=KEEPS_TIME)
        result = compare(place, new, rows, (days, large_days), times, repeats, seed, mixed)
        if soak:
            result |= endure(place, new, soak_commits, soak_new, soak_from, repeats, seed)
    return result


def compare(
    place: Lab, new: int, rows: int, days: tuple[int, int], times: int, repeats: int, seed: int,
    mixed: bool,
) -> dict[str, Any]:  # fmt: skip
    """Fill both lakes, the small one of so many days and the large one, then time runs in turns."""
    rounds = repeats + 2
    fresh = all_topics(seed, rounds * new, rounds * HALF_AN_HOUR) if mixed else iter(())
    _fill(place, rows, days, times, seed, fresh, new if mixed else 0)
    runs: dict[str, list[tuple[float, float]]] = {SMALL: [], LARGE: []}
    for number in range(repeats + 1):
        produce(islice(fresh, new) if mixed else charges(seed + 2 + number, new, HALF_AN_HOUR))
        for name in (SMALL, LARGE) if number % 2 else (LARGE, SMALL):
            with place.lake(name, keep=True) as lake:
                began = time.time()
                took = timed_run(everything())
                seen = lake.catalog.head(MART).published_ms / 1000 - began
            say(f"{name}: {took:.2f} s, {seen:.2f} s to the mart{'' if number else ' (warm-up)'}")
            runs[name] += [(took, seen)] if number else []
    small, large = (median(took for took, _ in runs[name]) for name in (SMALL, LARGE))
    with place.lake(LARGE, keep=True) as lake:
        empty = _empty_tick(lake)
        lake_rows = lake.catalog.head("raw.payment_charges").rows
    say(f"{new:,} new events: {small:.2f} s on the small lake, {large:.2f} s on the large one")
    return {
        "small_s": round(small, 2),
        "large_s": round(large, 2),
        "ratio": round(large / small, 3),
        "small_to_mart_s": round(median(seen for _, seen in runs[SMALL]), 2),
        "large_to_mart_s": round(median(seen for _, seen in runs[LARGE]), 2),
        **empty,
        "new": new,
        "small_runs_s": [round(took, 2) for took, _ in runs[SMALL]],
        "large_runs_s": [round(took, 2) for took, _ in runs[LARGE]],
        "large_rows": lake_rows,
        "days": dict(zip((SMALL, LARGE), days, strict=True)),
    }


def _fill(
    place: Lab, rows: int, days: tuple[int, int], times: int, seed: int, fresh: Iterator[Event],
    first: int,
) -> None:  # fmt: skip
    """Both histories. `first`: so many fresh events tell, as if they were new, of customers whom
    both lakes know; they belong to the history, too.
    """
    make = all_topics if first else charges
    _history(place, LARGE, make(seed, rows * times, timedelta(days[1])), rows * times)
    for topic in TOPICS if first else (CHARGES,):
        forget(topic)
    _history(place, SMALL, make(seed + (not first), rows, timedelta(days[0])), rows)
    produce(islice(fresh, first))
    for name in (SMALL, LARGE):  # the large one takes the small one's too: it is on the topics
        with place.lake(name, keep=True) as lake:
            catch_up(lake, source().tables)


def _history(place: Lab, name: str, events: Iterator[Event], rows: int) -> None:
    """Through Kafka and the real path, in few large batches, oldest first."""
    with doing(f"{name} lake: {rows:,} events"):
        for sent in range(0, rows, BATCH):
            produce(map(_arrived, islice(events, min(BATCH, rows - sent))))
            with place.lake(name, keep=True) as lake:
                catch_up(lake, source().tables)


def _arrived(event: Event) -> Event:
    """In the evening of its day; today's, now."""
    evening = event.made_ms // DAY_MS * DAY_MS + EVENING_MS
    return event._replace(at_ms=evening if evening < time.time() * 1000 else 0)


def _empty_tick(lake: Lake) -> dict[str, int]:
    """Once caught up, the sensor asks for nothing; a run made all the same commits nothing."""
    found = look(source())
    before = _commits(lake)
    timed_run(Look(source().tables, hour_of(now())))
    return {"empty_commits": _commits(lake) - before, "empty_runs": int(bool(found.tables))}


def _commits(lake: Lake) -> int:
    """Iceberg numbers every snapshot, so neither maintenance nor a branch escapes the count."""
    tables = [lake.catalog.load(name) for name in lake.catalog.heads()]
    return sum(int(getattr(t.metadata, "last_sequence_number", 0)) for t in tables)
