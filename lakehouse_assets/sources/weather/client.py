"""Telling the logging server of readings, one GET request after another, each until it is taken."""

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from urllib.parse import urlencode

from lakehouse_assets.sources.asking import Line, Question
from lakehouse_assets.sources.produce import PACE_S, PROGRESS_S
from lakehouse_assets.sources.weather.readings import Reading


def log(
    readings: Iterable[Reading],
    paced_from: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Send all readings and return how many; each has been answered with 200.

    `paced_from`: the instant that is now for the readings; else as fast as can be. `on_progress`
    hears the number answered so far, at most five times a second.
    """
    began = told = time.monotonic()
    ahead = paced_from.timestamp() - began if paced_from else 0
    sent = 0
    with Line("weather", "logging server for weather") as line:
        line.require()
        for reading in readings:
            if paced_from and (left := reading.made_ms / 1000 - ahead - time.monotonic()) > PACE_S:
                time.sleep(left)
            tell(line, reading)
            sent += 1
            if on_progress and (now := time.monotonic()) - told >= PROGRESS_S:
                on_progress(sent)
                told = now
    if on_progress:
        on_progress(sent)
    return sent


def tell(line: Line, reading: Reading) -> None:
    query = urlencode({"city": reading.city, "temperature": reading.temperature})
    about = f"{reading.city!r}, {reading.temperature!r}"
    line.tell(about, lambda: Question("GET", f"/log?{query}"))
