"""What a sensor's run is given and how it is timed, for benches that time such runs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from lakehouse_assets import settings
from lakehouse_assets.orchestration.sensors import Look, Source, look, sources
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import Dirt, distinct_charges, payments

GROUP = "payments"
RUN_S = 900
HALF_AN_HOUR = timedelta(minutes=30)
A_CHARGE = 1.6  # events of all topics to one charge


def charges(seed: int, count: int, span: timedelta) -> Iterator[Event]:
    """Distinct charges spread over the time up to now."""
    return distinct_charges(seed, count, datetime.now(timezone.utc) - span, span / count)


def all_topics(seed: int, count: int, span: timedelta) -> Iterator[Event]:
    """Events of all topics, endless from the time span before now on, of which `count` fill it."""
    begin = datetime.now(timezone.utc) - span
    return payments(seed, None, begin, Dirt(oversized=0), interval=span / count * A_CHARGE)


def everything() -> Look:
    """What a sensor's run does that takes the tables about the lake along, as one a minute does."""
    everybody = source()
    found = look(everybody)
    news = [t for t in everybody.tables if t in found.tables or t.layer == "metadata"]
    return Look(news, found.hour)


def source() -> Source:
    from lakehouse_assets.definitions import tables

    return next(s for s in sources(tables()) if s.group == GROUP)


def partition(found: Look) -> str:
    return f"{found.hour:{settings.HOUR_FORMAT}}" if found.hour else ""


def timed_run(found: Look) -> float:
    """What was found, in a process of its own, from its start to its end."""
    names = [t.name for t in found.tables]
    command = [sys.executable, "-m", "lakehouse_assets.bench._run", partition(found), *names]
    began = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=RUN_S, env=dict(os.environ)
    )
    took = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"a run failed:\n{done.stderr[-3000:]}")
    return took
