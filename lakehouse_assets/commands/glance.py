"""Every table at a glance, in a tenth of a second: rows, lag, freshness, last checks, held batches.

Reads the catalog's SQLite file and the tables' metadata as the plain files they are, because
importing what reads them properly (pyiceberg, SQLAlchemy) takes longer than `status` may. A catalog
that is not such files is read through pyiceberg.
"""

import json
import os
import sqlite3
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from lakehouse_assets import settings

if TYPE_CHECKING:
    from lakehouse_assets.topics.kafka import Topic

STAMP, TALLY, HOLD = "lake", "lake.tally", "lake.held"  # as in lake/catalog.py; a test compares
MEASURED = ("raw", "staging")  # layers whose failing rules are warnings
INVARIANTS = 2  # on every table: no batch is held, keys are unique; a broken one holds the batch
LOCK_PATIENCE_S = 30  # for another's lock, as everywhere else


@dataclass
class Glance:
    """A table as its readers see it now."""

    name: str
    rows: int
    snapshots: int
    commit: int
    epoch: int
    published_s: float  # epoch seconds of the newest published batch
    progress: dict[str, Any]
    tally: dict[str, Any]
    held: dict[str, str]  # the batch kept back: branch, since, why
    lag: int | None = None  # raw: records in Kafka that it does not have
    behind: int | None = None  # others: batches of its parents that it has not taken
    note: str = ""
    checks: dict[str, int] = field(default_factory=dict)

    @property
    def freshness_s(self) -> float:
        return max(0.0, time.time() - self.published_s)

    def holding(self) -> str:
        """What is held since when, why, and the way out; for a table that holds a batch."""
        since = self.held["since"][:16].replace("T", " ")
        return f"HELD since {since} UTC: {self.held['why']}; lakehouse release {self.name}"

    def failing(self) -> list[str]:
        rules = list(self.tally.get("failed", {}))
        return [rules[place] for place in self.tally.get("broken", [])]


def glances(with_kafka: bool = True) -> dict[str, Glance]:
    """All tables that have been made, by name."""
    found = {name: _glance(name, metadata) for name, metadata in _metadata().items()}
    for table in found.values():
        if "topic" not in table.progress:
            table.behind = _behind(table, found)
        elif with_kafka:
            table.lag, table.note = _lag(table.progress)
    return found


def summed(tables: dict[str, Glance]) -> dict[str, int]:
    """Checks over all tables: passed, warned, failed."""
    kinds = ("passed", "warned", "failed")
    return {kind: sum(t.checks[kind] for t in tables.values()) for kind in kinds}


def _metadata() -> dict[str, dict[str, Any]]:
    uri = settings.catalog_uri()
    if not uri.startswith("sqlite:///"):
        return _through_pyiceberg()
    path = uri.removeprefix("sqlite:///").split("?")[0]
    if not os.path.exists(path):
        return {}  # no catalog yet
    catalog = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=LOCK_PATIENCE_S)
    try:
        rows = catalog.execute(
            "select table_namespace || '.' || table_name, metadata_location from iceberg_tables"
            " where catalog_name = ? order by 1", (settings.CATALOG,),
        ).fetchall()  # fmt: skip
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return {}  # made, and nothing in it yet
    finally:
        catalog.close()
    if any(urlsplit(location).scheme not in ("", "file") for _, location in rows):
        return _through_pyiceberg()
    read = {name: _read(location) for name, location in rows}
    return {name: metadata for name, metadata in read.items() if metadata}


def _read(location: str) -> dict[str, Any] | None:
    path = location
    if location.startswith("file:"):
        path = unquote(urlsplit(location).path)
    try:
        with open(path, encoding="utf-8") as file:
            metadata: dict[str, Any] = json.load(file)
        return metadata
    except FileNotFoundError:
        return None  # dropped, or its metadata replaced, between the two looks


def _through_pyiceberg() -> dict[str, dict[str, Any]]:
    from lakehouse_assets.lake.catalog import Catalog

    catalog = Catalog()
    found = {}
    for space in catalog.iceberg.list_namespaces():
        for name in catalog.iceberg.list_tables(space):
            table = catalog.iceberg.load_table(name)
            found[".".join(name)] = json.loads(table.metadata.model_dump_json(by_alias=True))
    return found


def _glance(name: str, metadata: dict[str, Any]) -> Glance:
    snapshots = {s["snapshot-id"]: s for s in metadata.get("snapshots") or []}
    main = metadata.get("current-snapshot-id")
    current = snapshots.get(main, {})
    stamped = current
    while stamped and STAMP not in stamped.get("summary", {}):  # maintenance leaves no stamp
        stamped = snapshots.get(stamped.get("parent-snapshot-id"), {})
    stamp = json.loads(stamped.get("summary", {}).get(STAMP, "{}"))
    summary = current.get("summary", {})
    rows = int(summary.get("total-records", 0)) - int(summary.get("total-position-deletes", 0))
    properties = metadata.get("properties") or {}
    tallies = json.loads(properties.get(TALLY, "[]"))
    held = json.loads(properties.get(HOLD, "{}"))
    kept = (metadata.get("refs") or {}).get(held.get("branch"), {}).get("snapshot-id")
    if snapshots.get(kept, {}).get("parent-snapshot-id") != main:
        held = {}  # released, or main moved on
    glance = Glance(
        name, rows, len(snapshots), stamp.get("commit", 0), stamp.get("epoch", 0),
        stamped.get("timestamp-ms", 0) / 1000, stamp.get("progress", {}),
        tallies[0] if tallies else {}, held,
    )  # fmt: skip
    glance.checks = _checks(glance)
    return glance


def _checks(table: Glance) -> dict[str, int]:
    """The newest batch's verdicts over its hour (raw, staging) or its whole table."""
    broken = len(table.failing())
    measured = table.name.split(".")[0] in MEASURED
    held = int(bool(table.held))
    rules = len(table.tally.get("failed", {}))
    passed = rules - broken + (INVARIANTS - held if table.tally else 0)
    return {
        "passed": passed,
        "warned": broken if measured else 0,
        "failed": held + (0 if measured else broken),
    }


def _behind(table: Glance, tables: dict[str, Glance]) -> int:
    """Batches of its parents; of those that it does not read (-1) none."""
    pairs = [(tables[p], t) for p, t in table.progress.items() if p in tables and t[0] >= 0]
    return sum(
        parent.commit - (commit if parent.epoch == epoch else 0)
        for parent, (commit, epoch) in pairs
    )


def _lag(progress: dict[str, Any]) -> tuple[int | None, str]:
    from lakehouse_assets.topics.kafka import Kafka, KafkaDown, NoTopic

    try:
        topic = Kafka().topic(progress["topic"])
    except KafkaDown:
        return None, "Kafka does not answer"
    except NoTopic:
        return None, "its topic is gone: make it again, then lakehouse accept-gap"
    if note := gap_in(progress, topic):
        return None, note
    taken = taken_of(progress)
    return sum(max(0, end - taken.get(p, 0)) for p, end in topic.latest.items()), ""


def gap_in(progress: dict[str, Any], topic: "Topic") -> str:
    """What keeps a raw table from going on; '' if nothing does."""
    if topic.id != progress["topic_id"]:
        return "its topic was created anew: lakehouse accept-gap"
    taken = taken_of(progress)
    if any(taken.get(p, 0) < first for p, first in topic.earliest.items()):
        return "Kafka dropped unread records: lakehouse accept-gap"
    return ""


def taken_of(progress: dict[str, Any]) -> dict[int, int]:
    """By partition the offset that a raw table reads next."""
    return {int(p): offset for p, offset in progress["next"].items()}
