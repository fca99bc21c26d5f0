"""Kafka to typed raw table: our whole path beside confluent-kafka + pyarrow + pyiceberg.

Ours is what a sensor's run does for raw.payment_charges: plan the offsets, branch, parse, write
with every check counted, judge, publish. Its CPU is that of this process and of the Spark server;
the rival's is that of its process. The broker's is left out on both sides, and so is starting up.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from lakehouse_assets import settings
from lakehouse_assets.bench import _rival
from lakehouse_assets.bench._lab import Lab, Meter, catch_up, doing, lab, say
from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.bases import COORDINATES
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import CHARGES, FIRST_DAY, distinct_charges
from lakehouse_assets.sources.produce import ensure_topic, produce

PARTITIONS = 4
RIVAL_S = 1_800
RIVAL = "confluent-kafka + pyarrow JSON + pyiceberg append"


@dataclass(frozen=True)
class Figures:
    """One measurement of one side."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(
    rows: int = 1_000_000,
    warmup: int = 4_000_000,
    repeats: int = 3,
    batch: int = 100_000,
    seed: int = 7,
    coordinates: bool = True,
) -> dict[str, Any]:
    """Measure Kafka to raw on distinct charges, warm, with the rival in turns; medians are told.

    `warmup`: rows that the Spark server has ingested before, in multiples of `rows`. `batch`: rows
    in each of the rival's appends. `coordinates`: the rival fills the Kafka columns too, as we do.
    """
    with lab(Kafka(), Spark()) as place:
        return measure(place, rows, warmup, repeats, batch, seed, coordinates)


def measure(
    place: Lab, rows: int, warmup: int, repeats: int, batch: int, seed: int, coordinates: bool
) -> dict[str, Any]:
    """The same on services that run already, on a topic that does not exist yet."""
    with doing(f"sending {rows:,} distinct charges to {PARTITIONS} partitions"):
        ensure_topic(CHARGES, PARTITIONS)
        produce(distinct_charges(seed, rows, FIRST_DAY))
    passes = -(-warmup // rows)
    ours, rivals = [], []
    with place.lake("ours", keep=True) as lake:  # one session: each has its own compiled code
        lake.spark.range(1).collect()  # it is open, as in a server's second run
        for number in range(passes):
            with doing(f"warming up, pass {number + 1} of {passes}"):
                _ours(place, lake)
        for number in range(repeats):
            ours.append(_ours(place, lake))
            say(_said("ours", rows, ours[-1]))
            last = number == repeats - 1
            rivals.append(_theirs(place, rows, batch, coordinates, f"rival {number}", keep=last))
            say(_said("rival", rows, rivals[-1]))
    with doing("comparing both tables, column by column"):
        equal = _equal(place.folder / "lakes", "ours", f"rival {repeats - 1}")
    return _result(rows, ours, rivals, equal, _settings(batch, coordinates, passes * rows))


def _ours(place: Lab, lake: Lake) -> Figures:
    """The whole topic into a table that is made anew."""
    table = tables()["raw.payment_charges"]
    if lake.catalog.exists(table.name):
        lake.catalog.iceberg.purge_table(table.name)
    with Meter(os.getpid(), place.pid("spark")) as meter:
        catch_up(lake, [table])
    return Figures(meter.wall_s, meter.cpu_s, meter.peak_mb)


def _theirs(place: Lab, rows: int, batch: int, coordinates: bool, name: str, keep: bool) -> Figures:
    folder = place.folder / "lakes" / name
    folder.mkdir(parents=True)
    command = [
        sys.executable, "-m", "lakehouse_assets.bench._rival",
        "--topic", CHARGES, "--rows", str(rows), "--batch", str(batch),
        "--coordinates", str(int(coordinates)),
        "--catalog", _catalog_uri(folder), "--warehouse", str(folder / "warehouse"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=RIVAL_S)
    if done.returncode:
        raise RuntimeError(f"the rival failed:\n{done.stderr[-2000:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    if not keep:
        shutil.rmtree(folder)
    return Figures(told["wall_s"], told["cpu_s"], told["peak_mb"])


def _catalog_uri(folder: Path) -> str:
    return f"sqlite:///{folder / 'catalog.db'}"


def _equal(lakes: Path, ours: str, rival: str) -> bool:
    """Same values in every typed column; a few columns at a time, so that it fits in memory."""
    names = [n for n in tables()["raw.payment_charges"].contract.columns if n not in COORDINATES]
    sides = [
        SqlCatalog(settings.CATALOG, uri=_catalog_uri(lakes / lake)).load_table(name)
        for lake, name in ((ours, "raw.payment_charges"), (rival, _rival.TABLE))
    ]
    for name in names:
        wanted = tuple(dict.fromkeys(("event_id", name)))
        one, other = (
            side.scan(selected_fields=wanted).to_arrow().select(wanted).sort_by("event_id")
            for side in sides
        )
        if not one.equals(other.cast(one.schema)):  # text is large or not, by who wrote it
            say(f"column {name} differs between ours and the rival's")
            return False
    return True


def _settings(batch: int, coordinates: bool, warmed: int) -> dict[str, Any]:
    filled = "with" if coordinates else "without"
    said = {
        "rival": f"{RIVAL} of {batch:,} rows, zstd level 1, unpartitioned, {filled} the Kafka"
        " columns, no error handling, no checks, no progress",
        "rival_consumer": _rival.CONSUMER,
        "ours": "advance(raw.payment_charges): branch, from_json, rules, judge, publish; zstd 1",
        "spark_memory": os.environ.get("LAKEHOUSE_SPARK_MEMORY") or "2g",
        "cpus": os.cpu_count(),
        "warmed_by_rows": warmed,
        "partitions": PARTITIONS,
    }
    for name, value in said.items():
        say(f"{name}: {value}")
    return said


def _said(who: str, rows: int, one: Figures) -> str:
    return (
        f"{who:>5}: {rows / one.wall_s:>9,.0f} rows/s  {rows / one.cpu_s:>9,.0f} rows per CPU-s  "
        f"{one.wall_s:.1f} s  {one.cpu_s:.1f} CPU-s  peak {one.peak_mb:,.0f} MB"
    )


def _summary(rows: int, figures: Sequence[Figures]) -> dict[str, Any]:
    return {
        "rows_per_s": round(rows / median(f.wall_s for f in figures)),
        "rows_per_cpu_s": round(rows / median(f.cpu_s for f in figures)),
        "peak_mb": round(max(f.peak_mb for f in figures)),
        "wall_s": [round(f.wall_s, 2) for f in figures],
        "cpu_s": [round(f.cpu_s, 2) for f in figures],
    }


def _result(
    rows: int,
    ours: Sequence[Figures],
    rivals: Sequence[Figures],
    equal: bool,
    settings_used: dict[str, Any],
) -> dict[str, Any]:
    mine, theirs = _summary(rows, ours), _summary(rows, rivals)
    ratios = {f"ratio_{k}": round(mine[k] / theirs[k], 3) for k in ("rows_per_s", "rows_per_cpu_s")}
    say(f"ours / rival: {ratios['ratio_rows_per_s']} of its rows/s, "
        f"{ratios['ratio_rows_per_cpu_s']} of its rows per CPU-s; same rows: {equal}")  # fmt: skip
    rival = {"name": RIVAL} | theirs
    return {"rows": rows} | mine | {"rival": rival} | ratios | {
        "equal": equal, "settings": settings_used
    }  # fmt: skip
