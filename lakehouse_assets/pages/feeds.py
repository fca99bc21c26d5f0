"""How far each raw table is behind its topic, and what was set aside of it, and why."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import LATE
from lakehouse_assets.services.kafka import Kafka as Broker
from lakehouse_assets.topics.kafka import Kafka, KafkaDown, NoTopic, now
from lakehouse_assets.topics.position import RecordsLost, position, topic_of

QUARANTINE = "metadata.quarantine"
REASONS = 60  # shown, those with the most records first
NO_KAFKA = "Kafka does not answer, so nobody can tell what waits there (`lakehouse up kafka`)"


@dataclass(frozen=True)
class Lag:
    """Of a raw table: offsets that it has not read, and what keeps it."""

    unread: int | None  # None: nobody can tell
    is_late: bool = False  # some of them have waited longer than LATE
    note: str = ""


class Lags:
    """Asks the broker; one connection for as long as this lives."""

    def __init__(self) -> None:
        self._kafka: Kafka | None = None

    def of(self, tables: Iterable[LakeTable], heads: dict[str, Head]) -> dict[str, Lag]:
        """Of the raw tables that have begun."""
        begun = [(t, heads[t.name]) for t in tables if t.topic and t.name in heads]
        if not Broker().answers():  # asked first: Kafka's own client waits long
            self._kafka = None
            return {table.name: Lag(None, note=NO_KAFKA) for table, _ in begun}
        kafka = self._kafka = self._kafka or Kafka()
        found: dict[str, Lag] = {}
        for table, head in begun:
            try:
                found[table.name] = _lag(kafka, table, head)
            except NoTopic as none:
                found[table.name] = Lag(0, note=str(none))
            except RecordsLost as lost:
                found[table.name] = Lag(None, is_late=True, note=str(lost))
            except KafkaDown:  # it went away meanwhile: do not wait as long for each of the others
                return {t.name: Lag(None, note=NO_KAFKA) for t, _ in begun} | found
        return found


def _lag(kafka: Kafka, table: LakeTable, head: Head) -> Lag:
    """As the check `is_fresh` sees it."""
    topic = topic_of(kafka, head, table.topic)
    _, start = position(head, topic)
    unread = sum(topic.latest[p] - offset for p, offset in start.items())
    overdue = kafka.first_at(topic, now() - LATE) if unread else start
    return Lag(unread, any(start[p] < overdue[p] for p in start))


@dataclass(frozen=True)
class SetAside:
    """Records of one table that were set aside for one reason."""

    table: str
    stage: str
    reason: str
    records: int
    since: datetime
    newest: datetime


class Quarantine:
    """Counted anew when the table has changed."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._counted: tuple[int, list[SetAside]] = (-1, [])

    def reasons(self, heads: dict[str, Head]) -> list[SetAside]:
        """Those with the most records first."""
        if (head := heads.get(QUARANTINE)) is None:
            return []
        if head.snapshot_id != self._counted[0]:
            self._counted = head.snapshot_id, _counted(self._catalog, head)
        return self._counted[1]


def _counted(catalog: Catalog, head: Head) -> list[SetAside]:
    """Batch by batch, so that a large table needs no more memory than a small one."""
    import pyarrow as pa  # type: ignore[import-untyped]

    by = ["source_table", "stage", "reason"]
    scan = catalog.load(QUARANTINE).scan(
        selected_fields=(*by, "arrived_at"), snapshot_id=head.snapshot_id
    )
    counts: dict[tuple[str, ...], list[Any]] = defaultdict(lambda: [0, None, None])
    for batch in scan.to_arrow_batch_reader():
        grouped = pa.Table.from_batches([batch]).group_by(by).aggregate(
            [("arrived_at", "count"), ("arrived_at", "min"), ("arrived_at", "max")]
        )  # fmt: skip
        for one in grouped.to_pylist():
            kept = counts[tuple(one[name] for name in by)]
            kept[0] += one["arrived_at_count"]
            kept[1] = min(filter(None, (kept[1], one["arrived_at_min"])))
            kept[2] = max(filter(None, (kept[2], one["arrived_at_max"])))
    found = [SetAside(table, stage, reason, *kept)
             for (table, stage, reason), kept in counts.items()]  # fmt: skip
    return sorted(found, key=lambda one: (-one.records, one.table, one.reason))[:REASONS]
