"""A sensor-sized run, raw to marts, process start included, on a small lake and on a large one.

Both lakes read the same topic: the large one's history was sent first and then deleted from Kafka,
so that each round's new charges are the same for both, in turns, on one warm Spark server. History
arrived when it was made, a day of it at a time; what is new arrives now.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice
from statistics import median
from typing import Any

from lakehouse_assets import settings
from lakehouse_assets.bench._group import forget
from lakehouse_assets.bench._lab import Lab, catch_up, counting, doing, environment, lab, say
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.orchestration.sensors import Look, Source, look, sources
from lakehouse_assets.services.dagster import Daemon, dagster_env
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import CHARGES, TOPICS, Dirt, distinct_charges, payments
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import hour_of, now

GROUP, MART = "payments", "marts.payments_daily"
BATCH = 500_000  # rows of history in one batch
RUN_S = 900
PACE = 50  # small runs of a soak that are looked at together
HALF_AN_HOUR = timedelta(minutes=30)
KEEPS_TIME = {"message.timestamp.type": "CreateTime"}  # the producer's
DAY_MS, EVENING_MS = 86_400_000, 23 * 3_600_000
A_CHARGE = 1.6  # events of all topics to one charge
SMALL, LARGE, LONG = "small", "large", "long"


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
    begin = datetime.now(timezone.utc) - timedelta(round(days * times**0.5) + 1)
    first = {"LAKEHOUSE_FIRST_HOUR": f"{begin:{settings.HOUR_FORMAT}}"}
    with lab(Kafka(), Spark()) as place, environment(dagster_env() | first):
        Daemon().prepare()  # the instance only; the daemon is not started
        for topic in TOPICS if mixed else (CHARGES,):
            ensure_topic(topic, config=KEEPS_TIME)
        result = compare(place, new, rows, days, times, repeats, seed, mixed)
        if soak:
            result |= endure(place, new, soak_commits, soak_new, soak_from, repeats, seed)
    return result


def compare(
    place: Lab, new: int, rows: int, days: int, times: int, repeats: int, seed: int, mixed: bool
) -> dict[str, Any]:
    """Fill both lakes, then time runs in turns."""
    large_days = round(days * times**0.5)
    rounds = repeats + 2
    fresh = _mixed(seed, rounds * new, rounds * HALF_AN_HOUR) if mixed else iter(())
    _fill(place, rows, days, times, large_days, seed, fresh, new if mixed else 0)
    seconds: dict[str, list[float]] = {SMALL: [], LARGE: []}
    to_mart: dict[str, list[float]] = {SMALL: [], LARGE: []}
    for number in range(repeats + 1):
        produce(islice(fresh, new) if mixed else _charges(seed + 2 + number, new, HALF_AN_HOUR))
        for name in (SMALL, LARGE) if number % 2 else (LARGE, SMALL):
            with place.lake(name, keep=True) as lake:
                began = time.time()
                took = _timed_run(_everything())
                seen = lake.catalog.head(MART).published_ms / 1000 - began
            say(f"{name}: {took:.2f} s, {seen:.2f} s to the mart{'' if number else ' (warm-up)'}")
            if number:
                seconds[name].append(took)
                to_mart[name].append(seen)
    small, large = median(seconds[SMALL]), median(seconds[LARGE])
    with place.lake(LARGE, keep=True) as lake:
        empty = _empty_tick(lake)
        lake_rows = lake.catalog.head("raw.payment_charges").rows
    say(f"{new:,} new events: {small:.2f} s on the small lake, {large:.2f} s on the large one")
    return {
        "small_s": round(small, 2),
        "large_s": round(large, 2),
        "ratio": round(large / small, 3),
        "small_to_mart_s": round(median(to_mart[SMALL]), 2),
        "large_to_mart_s": round(median(to_mart[LARGE]), 2),
        **empty,
        "new": new,
        "small_runs_s": [round(s, 2) for s in seconds[SMALL]],
        "large_runs_s": [round(s, 2) for s in seconds[LARGE]],
        "large_rows": lake_rows,
        "days": {SMALL: days, LARGE: large_days},
    }


def endure(
    place: Lab, new: int, commits: int, each: int, begin: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Many small commits on one lake, with maintenance; the same run timed early and at the end."""
    from dagster._core.errors import DagsterExecutionInterruptedError as Interrupted

    forget(CHARGES)
    begin = min(begin, commits)
    told, seconds = dict[int, float](), list[float]()
    with place.lake(LONG, keep=True), counting("soak", commits) as count:
        try:
            for number in range(1, commits + 1):
                produce(_charges(seed + 1_000 + number, each, timedelta(seconds=each)))
                seconds.append(_small_run())
                count(number)
                if number in (begin, commits):
                    told[number] = _median_run(new, repeats, seed + 500_000 + number * 100)
                    say(f"at commit {number:,}: {told[number]:.2f} s")
        except (KeyboardInterrupt, Interrupted):
            say(f"interrupted after {len(seconds):,} of {commits:,} commits")
    return {"soak": {"wanted": commits, "from_commit": begin} | _endured(seconds, told, commits)}


def _small_run() -> float:
    """In this process, since starting ten thousand would measure Python."""
    import dagster as dg

    from lakehouse_assets.bench._run import execute

    found = look(_source())
    began = time.perf_counter()
    with dg.DagsterInstance.ephemeral() as instance:
        names = [t.name for t in found.tables]
        execute(instance, _partition(found), names, is_quiet=True)
    return time.perf_counter() - began


def _endured(seconds: list[float], told: dict[int, float], commits: int) -> dict[str, Any]:
    """What is known by now; None: it was interrupted before. `pace`: small runs' medians."""
    done = len(seconds)
    first = next(iter(told.values()), None)
    last = told.get(commits)
    at = sorted({*range(max(commits // 10, 1), done, max(commits // 10, 1)), done} - {0})
    return {
        "commits": done,
        "first_s": first and round(first, 2),
        "last_s": last and round(last, 2),
        "ratio": round(last / first, 3) if first and last else None,
        "pace_s": {str(n): round(median(seconds[max(n - PACE, 0) : n]), 3) for n in at},
    }


def _median_run(new: int, repeats: int, seed: int) -> float:
    seconds = []
    for number in range(repeats):
        produce(_charges(seed + number, new, HALF_AN_HOUR))
        seconds.append(_timed_run(_everything()))
    return median(seconds)


def _everything() -> Look:
    """What a sensor's run does that takes the tables about the lake along, as one a minute does."""
    source = _source()
    found = look(source)
    news = [t for t in source.tables if t in found.tables or t.layer == "metadata"]
    return Look(news, found.hour)


def _source() -> Source:
    from lakehouse_assets.definitions import tables

    return next(s for s in sources(tables()) if s.group == GROUP)


def _charges(seed: int, count: int, span: timedelta) -> Iterator[Event]:
    """Distinct charges spread over the time up to now."""
    return distinct_charges(seed, count, datetime.now(timezone.utc) - span, span / count)


def _mixed(seed: int, count: int, span: timedelta) -> Iterator[Event]:
    """Events of all topics, endless from the time span before now on, of which `count` fill it."""
    begin = datetime.now(timezone.utc) - span
    return payments(seed, None, begin, Dirt(oversized=0), interval=span / count * A_CHARGE)


def _fill(
    place: Lab, rows: int, days: int, times: int, large_days: int, seed: int,
    fresh: Iterator[Event], first: int,
) -> None:  # fmt: skip
    """Both histories. `first`: so many fresh events tell, as if they were new, of customers whom
    both lakes know; they belong to the history, too.
    """
    make = _mixed if first else _charges
    _history(place, LARGE, make(seed, rows * times, timedelta(large_days)), rows * times)
    for topic in TOPICS if first else (CHARGES,):
        forget(topic)
    _history(place, SMALL, make(seed + (not first), rows, timedelta(days)), rows)
    produce(islice(fresh, first))
    for name in (SMALL, LARGE):  # the large one takes the small one's too: it is on the topics
        with place.lake(name, keep=True) as lake:
            catch_up(lake, _source().tables)


def _history(place: Lab, name: str, events: Iterator[Event], rows: int) -> None:
    """Through Kafka and the real path, in few large batches, oldest first."""
    with doing(f"{name} lake: {rows:,} events"):
        for sent in range(0, rows, BATCH):
            produce(map(_arrived, islice(events, min(BATCH, rows - sent))))
            with place.lake(name, keep=True) as lake:
                catch_up(lake, _source().tables)


def _arrived(event: Event) -> Event:
    """In the evening of its day; today's, now."""
    evening = event.made_ms // DAY_MS * DAY_MS + EVENING_MS
    return event._replace(at_ms=evening if evening < time.time() * 1000 else 0)


def _partition(found: Look) -> str:
    return f"{found.hour:{settings.HOUR_FORMAT}}" if found.hour else ""


def _timed_run(found: Look) -> float:
    """What was found, in a process of its own, from its start to its end."""
    names = [t.name for t in found.tables]
    command = [sys.executable, "-m", "lakehouse_assets.bench._run", _partition(found), *names]
    began = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=RUN_S, env=dict(os.environ)
    )
    took = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"a run failed:\n{done.stderr[-3000:]}")
    return took


def _empty_tick(lake: Lake) -> dict[str, int]:
    """Once caught up, the sensor asks for nothing; a run made all the same commits nothing."""
    found = look(_source())
    before = _commits(lake)
    _timed_run(Look(_source().tables, hour_of(now())))
    return {"empty_commits": _commits(lake) - before, "empty_runs": int(bool(found.tables))}


def _commits(lake: Lake) -> int:
    """Iceberg numbers every snapshot, so neither maintenance nor a branch escapes the count."""
    tables = [lake.catalog.load(name) for name in lake.catalog.heads()]
    return sum(int(getattr(t.metadata, "last_sequence_number", 0)) for t in tables)
