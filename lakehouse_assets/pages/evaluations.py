"""What Dagster has stored of checks: the newest evaluation of each, since when one fails, examples.

Read from its instance, whoever runs; of a lake in which Dagster never ran there is nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import dagster as dg
from dagster._core.storage.asset_check_execution_record import (
    COMPLETED_ASSET_CHECK_EXECUTION_RECORD_STATUSES as COMPLETED,
)
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

from lakehouse_assets.pages.known import Known
from lakehouse_assets.services.dagster import dagster_home, instance

LOOKED_BACK = 60  # evaluations of a check that fails, for since when it does
EXAMPLES = "examples"


@dataclass(frozen=True)
class Evaluation:
    """One verdict, with what it told beside it."""

    passed: bool
    is_warning: bool
    at: datetime
    told: dict[str, Any] = field(default_factory=dict)
    description: str = ""

    @property
    def examples(self) -> list[dict[str, Any]]:
        found = self.told.get(EXAMPLES)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


@dataclass(frozen=True)
class Failing:
    """Since when a check fails, as far as is looked back, and its newest examples."""

    since: datetime
    examples: list[dict[str, Any]]
    examples_at: datetime | None


class Evaluations:
    """Opened once; asks again for what may have changed."""

    def __init__(self) -> None:
        self._instance: dg.DagsterInstance | None = None
        self._newest: dict[dg.AssetCheckKey, Evaluation] = {}
        self._failing: dict[dg.AssetCheckKey, tuple[datetime, Failing]] = {}

    def newest(self, known: Sequence[Known]) -> dict[dg.AssetCheckKey, Evaluation]:
        """Of each check that was ever evaluated. While a run is about to, the one before counts."""
        storage = self._storage()
        if storage is None:
            return {}
        keys = [one.key for one in known]
        records = storage.get_latest_asset_check_execution_by_key(keys)
        for key, record in records.items():
            if record.evaluation is None and key not in self._newest:
                history = storage.get_asset_check_execution_history(key, 1, status=COMPLETED)
                record = next(iter(history), record)
            if found := _evaluation(record):
                self._newest[key] = found
        self._newest = {key: e for key, e in self._newest.items() if key in records}
        return self._newest

    def failing(self, one: Known, newest: Evaluation) -> Failing:
        """Of a check that fails now; looked up once for each new evaluation."""
        kept = self._failing.get(one.key)
        storage = self._storage()
        if (kept and kept[0] == newest.at) or storage is None:
            return kept[1] if kept else Failing(newest.at, newest.examples, newest.at)
        records = storage.get_asset_check_execution_history(one.key, LOOKED_BACK, status=COMPLETED)
        found = [e for e in map(_evaluation, records) if e]
        since = newest.at
        for evaluation in found:
            if evaluation.passed:
                break
            since = min(since, evaluation.at)
        shown = next((e for e in found if not e.passed and e.examples), None)
        told = Failing(since, shown.examples if shown else [], shown.at if shown else None)
        self._failing[one.key] = newest.at, told
        return told

    def days(self, days: int) -> dict[tuple[str, str], dict[str, list[int]]]:
        """By asset, check and day (UTC, ISO): how many evaluations passed, and how many failed."""
        storage = self._storage()
        if not isinstance(storage, SqlEventLogStorage):
            return {}
        since = datetime.now(timezone.utc).replace(tzinfo=None) - timedelta(days=days)
        found: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(dict)
        for key, name, day, status, count in _by_day(storage, since):
            asset = dg.AssetKey.from_db_string(key)
            if asset is not None:
                counts = found[".".join(asset.path), name].setdefault(str(day), [0, 0])
                counts[status == "FAILED"] += count
        return found

    def _storage(self) -> Any:
        if self._instance is None:
            if not (dagster_home() / "dagster.yaml").exists():
                return None
            self._instance = instance()
        return self._instance.event_log_storage


def _by_day(storage: SqlEventLogStorage, since: datetime) -> list[Any]:
    """One query for all checks, of columns alone: each evaluation's own text is long."""
    import sqlalchemy as sql
    from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable as Stored

    at = Stored.c.evaluation_event_timestamp
    place = (Stored.c.asset_key, Stored.c.check_name, sql.func.date(at), Stored.c.execution_status)
    done = Stored.c.execution_status.in_([status.value for status in COMPLETED])
    counted = sql.select(*place, sql.func.count()).where(done, at >= since).group_by(*place)
    with storage.index_connection() as connection:
        return list(connection.execute(counted))


def _evaluation(record: AssetCheckExecutionRecord) -> Evaluation | None:
    if (said := record.evaluation) is None:
        return None
    told = {name: _plain(value) for name, value in said.metadata.items()}
    timestamp = record.event.timestamp if record.event else record.create_timestamp
    return Evaluation(
        said.passed, said.severity == dg.AssetCheckSeverity.WARN,
        datetime.fromtimestamp(timestamp, timezone.utc), told, said.description or "",
    )  # fmt: skip


def _plain(value: dg.MetadataValue) -> Any:
    """As JSON has it."""
    found = value.value
    return found if isinstance(found, (str, int, float, bool, list, dict)) else str(found)
