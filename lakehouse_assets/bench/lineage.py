"""Plain Avro to its raw table with a commit log; then rows of every mart back to Kafka.

The first figures are those of `bench ingest`, for records of two fields: what is measured is what a
record costs. Then a small lake is made of all sources, and random rows of each mart are followed to
raw rows and their Kafka coordinates.
"""

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from statistics import median
from typing import Any

from lakehouse_assets.bench import _shop
from lakehouse_assets.bench._lab import Lab, Meter, catch_up, doing, lab, say
from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lineage.trace import Tracer
from lakehouse_assets.sources import payments
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.lineage import FIRST_DAY, PARTITIONS, TOPIC, events
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.sources.storefront.seeding import Sizes
from lakehouse_assets.sources.webhooks import delivered, requests, vendors

RAW = "raw.lineage_events"
A_REQUEST = 10  # events of payments to one webhook
ORDERS = 300


def run(
    rows: int = 1_000_000,
    warmup: int = 2_000_000,
    repeats: int = 3,
    traced: int = 100,
    payment_events: int = 20_000,
    seed: int = 7,
) -> dict[str, Any]:
    """Measure Kafka to raw.lineage_events, warm, medians are told; then trace rows of each mart.

    `warmup`: rows that the Spark server has ingested before, in multiples of `rows`. `traced`: rows
    of each mart. `payment_events`: of the lake in which they are traced; others in proportion.
    """
    with lab(*_shop.services()) as place:
        figures = ingested(place, rows, warmup, repeats, seed)
        return figures | _traced(place, payment_events, traced, seed)


def ingested(place: Lab, rows: int, warmup: int, repeats: int, seed: int) -> dict[str, Any]:
    with doing(f"sending {rows:,} Avro records to {PARTITIONS} partitions"):
        ensure_topic(TOPIC, PARTITIONS)
        produce(events(seed, rows, FIRST_DAY))
    walls: list[float] = []
    costs: list[float] = []
    peaks: list[float] = []
    passes = -(-warmup // rows)
    with place.lake("ingest") as lake:
        lake.spark.range(1).collect()  # it is open, as in a server's second run
        for number in range(passes + repeats):
            if lake.catalog.exists(RAW):
                lake.catalog.iceberg.purge_table(RAW)
            with Meter(os.getpid(), place.pid("spark")) as meter:
                catch_up(lake, [tables()[RAW]])
            assert lake.catalog.head(RAW).rows == rows
            if number >= passes:
                walls.append(meter.wall_s)
                costs.append(meter.cpu_s)
                peaks.append(meter.peak_mb)
                say(f"{rows / meter.wall_s:,.0f} rows/s, {rows / meter.cpu_s:,.0f} per CPU-s")
    return {
        "rows": rows,
        "rows_per_s": round(rows / median(walls)),
        "rows_per_cpu_s": round(rows / median(costs)),
        "peak_mb": round(max(peaks)),
        "warmed_by_rows": passes * rows,
    }


def _traced(place: Lab, count: int, wanted: int, seed: int) -> dict[str, Any]:
    begin = datetime.now(timezone.utc) - max(count * payments.INTERVAL, timedelta(hours=1))
    _shop.seed(Sizes(orders=ORDERS), seed)
    _shop.capture(place)
    with doing("filling a lake from all sources"), place.lake("traced") as lake:
        for topic in (*payments.TOPICS, *vendors.TOPICS):
            ensure_topic(topic)
        produce(_events(count, begin, seed))
        catch_up(lake, list(tables().values()))
        return of_marts(lake, wanted, seed)


def _events(count: int, begin: datetime, seed: int) -> Iterator[Event]:
    yield from payments.payments(seed, count, begin, payments.Dirt())
    yield from delivered.records(requests(seed, count // A_REQUEST, begin))


def of_marts(lake: Lake, wanted: int, seed: int) -> dict[str, Any]:
    """Every mart's rows, and how many of them lead to a Kafka record."""
    from pyspark.sql import functions as F

    marts: dict[str, dict[str, float]] = {}
    for name, table in tables().items():
        if table.layer != "marts":
            continue
        began, tracer = time.monotonic(), Tracer(lake)
        if not lake.catalog.exists(name):
            continue
        chosen = tracer.read(table).orderBy(F.rand(seed)).limit(wanted)
        traces = tracer.follow(table, fetched(chosen).to_pylist())
        good = sum(trace.is_traced for trace in traces)
        seconds = round(time.monotonic() - began, 2)
        marts[name] = {"rows": len(traces), "traced": good, "seconds": seconds}
        say(f"{name}: {good} of {len(traces)} rows traced to Kafka in {seconds:.1f} s")
    rows = sum(one["rows"] for one in marts.values())
    return {
        "traced_pct": round(100 * sum(one["traced"] for one in marts.values()) / max(rows, 1), 2),
        "trace_s": round(sum(one["seconds"] for one in marts.values()), 2),
        "traced_rows": rows,
        "marts": marts,
    }
