"""Lineage events under chaos: beside every record its place in the commit log.

The log is read as its files stand, by the csv module, and the rows by their checkpoint from the
Parquet files themselves: so neither can vouch for the other.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyiceberg.exceptions import NoSuchTableError

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import Lab
from lakehouse_assets.chaos._source import Verdict
from lakehouse_assets.chaos._streamed import Streamed
from lakehouse_assets.commands import compare
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.lineage import PARTITIONS, TOPIC, Dirt, events
from lakehouse_assets.sources.lineage import truth as of_lineage
from lakehouse_assets.sources.produce import ensure_topic

DIRT = Dirt(undecodable=0.05, other_schema=0.05, null_value=0.02)
TABLE = of_lineage.RAW[TOPIC]
LOG = "write-ahead-commit-log"


class Lineage(Streamed):
    group, truth = "lineage", of_lineage

    def begin(self, place: Lab, topics: Sequence[str], seed: int, plays: int) -> None:
        ensure_topic(TOPIC, PARTITIONS)
        super().begin(place, topics, seed, plays)

    def stream(self, seed: int, start: datetime, pace: timedelta) -> Iterator[Event]:
        return events(seed, None, start, DIRT, pace)

    def judged(self, about: Iterable[str]) -> Verdict:
        verdict = super().judged(about)
        verdict.found.append(log_beside_files())
        return verdict


def log_beside_files() -> compare.Compared:
    """Each file that readers see, with the attempts whose rows it holds: lost, if the log does not
    have it; wrong, if the log says other attempts.
    """
    found = compare.Compared(f"{LOG} of {TABLE}", good="has every file, and whose rows are in it")
    said = logged()
    for path in seen():
        found.rows += 1
        column = pq.read_table(path, columns=["checkpoint_id"], partitioning=None).column(0)
        held = set(column.to_pylist())
        if path not in said:
            found.lost += 1
            found.note("lost", (path,))
        elif said[path] != held:
            found.wrong += 1
            found.note("wrong", (path,), f"holds rows of {held}, the log says {said[path]}")
    return found


def logged() -> dict[str, set[int]]:
    """By file the attempts whose rows are in it, as the log says."""
    folder = Path(settings.commit_logs()) / TABLE.replace(".", "/") / LOG
    told: dict[str, set[int]] = defaultdict(set)
    for file in folder.glob("chk-*/subtask-*.csv"):
        with file.open(newline="") as lines:
            for line in csv.DictReader(lines):
                told[line["s3_key"]].add(int(line["checkpoint_id"]))
    return dict(told)


def seen() -> list[str]:
    """The data files of what readers see now."""
    try:
        table = compare.catalog().load_table(TABLE)
    except NoSuchTableError:
        return []
    return [task.file.file_path for task in table.scan().plan_files()]
