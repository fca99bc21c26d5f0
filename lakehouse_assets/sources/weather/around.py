"""Records as only somebody can send them who writes to the topic around the logging server.

Good ones of other moments than now, some late and some twice, and some that are no readings: what
the server would have refused, and what is no record of its making at all.
"""

import json
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count as counting
from itertools import islice
from random import Random
from typing import Any

from lakehouse_assets.sources.event import CLEAN, Event
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.bounds import MAX_CITY
from lakehouse_assets.sources.weather.readings import CITIES, COLDEST, HOTTEST

LATE = timedelta(hours=2)  # at most
REMEMBERED = 64  # latest records, of which one may come again
SHARES = {"late": 0.08, "again": 0.05, "odd_city": 0.03, "unknown_field": 0.02, "no_reading": 0.12}
ODD = ("O'Fallon", 'Say "hi"', "🌧️ Zürich", "'; drop table weather; --",
       "<script>alert(1)</script>", "x" * MAX_CITY, " ")  # fmt: skip
NO_READINGS: tuple[bytes | None, ...] = (
    None, b"", b"\xff\xfe", b"<html>", b"[]", b'{"city": "Boston", "temperature": NaN}',
    b'{"city": "Boston"}', b'{"temperature": "1"}', b'{"city": null, "temperature": "1"}',
    *[json.dumps({"city": "Boston", "temperature": text, "ts": "2026-01-08-14"}).encode()
      for text in ("NaN", "Infinity", "-inf", "warm", "", "1e400", "200.5", "-151", "0x1p3")],
    *[json.dumps({"city": city, "temperature": "1", "ts": "?"}).encode()
      for city in ("", "x" * (MAX_CITY + 1), "a\0b")],
)  # fmt: skip


def around(
    seed: int, count: int | None, start: datetime, interval: timedelta
) -> Iterator[Event]:
    """One record each interval; a late one tells of up to two hours before."""
    return islice(_made(Random(f"weather/around/{seed}"), start, interval), count)


def _made(rng: Random, start: datetime, interval: timedelta) -> Iterator[Event]:
    latest = deque[Event](maxlen=REMEMBERED)
    for slot in counting():
        at_ms = int((start + slot * interval).timestamp() * 1000)
        (kind,) = rng.choices([*SHARES, CLEAN], [*SHARES.values(), 1 - sum(SHARES.values())])
        if kind == "again" and latest:
            yield rng.choice(latest)._replace(kind=kind, made_ms=at_ms)
            continue
        moment_ms = at_ms - (rng.randrange(int(LATE.total_seconds() * 1000)) * (kind == "late"))
        city = rng.choice(ODD if kind == "odd_city" else CITIES)
        value = _said(rng, city, start, moment_ms, {"from": 1} if kind == "unknown_field" else {})
        if kind == "no_reading":
            value = rng.choice(NO_READINGS)
        event = Event(city.encode(), value, TOPIC, kind, at_ms, moment_ms)
        latest.append(event)
        yield event


def _said(
    rng: Random, city: str, start: datetime, at_ms: int, more: dict[str, Any]
) -> bytes | None:
    temperature = f"{rng.uniform(COLDEST, HOTTEST):.2f}"
    moment = datetime.fromtimestamp(at_ms / 1000, start.tzinfo)
    said = {"city": city, "temperature": temperature, "ts": f"{moment:%Y-%m-%d-%H}"}
    return json.dumps(said | more, ensure_ascii=False).encode()
