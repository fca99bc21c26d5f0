"""Thousands of small commits on one lake: whether the last run takes longer than an early one."""

import time
from datetime import timedelta
from statistics import median
from typing import Any

from lakehouse_assets.bench._group import forget
from lakehouse_assets.bench._lab import Lab, counting, say
from lakehouse_assets.bench._ticks import (
    HALF_AN_HOUR,
    charges,
    everything,
    partition,
    source,
    timed_run,
)
from lakehouse_assets.orchestration.sensors import look
from lakehouse_assets.sources.payments import CHARGES
from lakehouse_assets.sources.produce import produce

LAKE = "long"
PACE = 50  # small runs that are looked at together


def endure(
    place: Lab, new: int, commits: int, each: int, begin: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Many small commits on one lake, with maintenance; the same run timed early and at the end."""
    from dagster._core.errors import DagsterExecutionInterruptedError as Interrupted

    forget(CHARGES)
    begin = min(begin, commits)
    told, seconds = dict[int, float](), list[float]()
    with place.lake(LAKE, keep=True), counting("soak", commits) as count:
        try:
            for number in range(1, commits + 1):
                produce(charges(seed + 1_000 + number, each, timedelta(seconds=each)))
                seconds.append(_small_run())
                count(number)
                if number in (begin, commits):
                    told[number] = _median_run(new, repeats, seed + 500_000 + number * 100)
                    say(f"at commit {number:,}: {told[number]:.2f} s")
        except (KeyboardInterrupt, Interrupted):
            say(f"interrupted after {len(seconds):,} of {commits:,} commits")
    return {"soak": {"wanted": commits, "from_commit": begin} | endured(seconds, told, commits)}


def _small_run() -> float:
    """In this process, since starting ten thousand would measure Python."""
    import dagster as dg

    from lakehouse_assets.bench._run import execute

    found = look(source())
    began = time.perf_counter()
    with dg.DagsterInstance.ephemeral() as instance:
        names = [t.name for t in found.tables]
        execute(instance, partition(found), names, is_quiet=True)
    return time.perf_counter() - began


def endured(seconds: list[float], told: dict[int, float], commits: int) -> dict[str, Any]:
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
        produce(charges(seed + number, new, HALF_AN_HOUR))
        seconds.append(timed_run(everything()))
    return median(seconds)
