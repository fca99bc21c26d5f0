"""All payment topics, raw to marts, through every table: how fast, and where the time goes.

Events are as the generator makes them, dirt and all; they wait in Kafka when the clock starts. One
warm-up over a topic of its own size has compiled what Spark compiles. The CPU is that of this
process and of the Spark server.
"""

import os
import time
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.bench._group import forget, the_tables
from lakehouse_assets.bench._lab import Lab, Meter, catch_up, doing, lab, say
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import TOPICS, Dirt, payments
from lakehouse_assets.sources.produce import ensure_topic, produce

DIRT = Dirt(oversized=0)  # bytes are not what is measured


def run(
    rows: int = 1_000_000, warmup: int = 100_000, days: int = 10, seed: int = 7
) -> dict[str, Any]:
    """Measure `rows` events of all topics, made over `days`, from Kafka to every mart."""
    with lab(Kafka(), Spark()) as place:
        for topic in TOPICS:
            ensure_topic(topic)
        with doing(f"warming up with {warmup:,} events"):
            _sent(seed + 1, warmup, days)
            with place.lake("warm") as lake:
                catch_up(lake, the_tables())
        for topic in TOPICS:
            forget(topic)
        with doing(f"sending {rows:,} events"):
            _sent(seed, rows, days)
        with place.lake("measured") as lake:
            return _measured(place, lake, rows)


def _sent(seed: int, count: int, days: int) -> None:
    span = timedelta(days=days)
    begin = datetime.now(timezone.utc) - span
    produce(payments(seed, count, begin, DIRT, interval=span / count))


def _measured(place: Lab, lake: Lake, rows: int) -> dict[str, Any]:
    by_asset: dict[str, float] = {}
    lake.spark.range(1).collect()  # the session is open
    with Meter(os.getpid(), place.pid("spark")) as meter:
        for table in the_tables():
            began = time.perf_counter()
            catch_up(lake, [table])
            by_asset[table.name] = round(time.perf_counter() - began, 2)
            say(f"{by_asset[table.name]:>8.2f} s  {table.name}")
    say(f"{rows / meter.wall_s:,.0f} events/s, {meter.cpu_s / rows * 1e6:,.0f} CPU-s a million")
    return {
        "rows": rows,
        "events_per_s": round(rows / meter.wall_s),
        "cpu_s_per_million": round(meter.cpu_s / rows * 1e6, 1),
        "peak_mb": round(meter.peak_mb),
        "by_asset": dict(sorted(by_asset.items(), key=lambda item: -item[1])),
        "wall_s": round(meter.wall_s, 1),
    }
