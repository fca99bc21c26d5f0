"""Lakes as the board sees them, made without Spark: heads with tallies, held batches, history,
quarantine, and what Dagster stored.
"""

import json
import shutil
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any

import dagster as dg
import pyarrow as pa  # type: ignore[import-untyped]

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake import quality, schema
from lakehouse_assets.lake.catalog import STAMP, TALLY, Catalog
from lakehouse_assets.lake.contract import COMMIT, Table
from lakehouse_assets.lake.head import Stamp
from lakehouse_assets.services.dagster import dagster_home, instance

RAW, STAGED, MART = "raw.payment_charges", "staging.stg_payment_charges", "marts.payments_daily"
EPOCH = 1
HISTORY, QUARANTINE = "metadata.check_history", "metadata.quarantine"
RULE = "payments_at_least_1"  # of MART


def now() -> datetime:
    return datetime.now(timezone.utc)


def publish(
    name: str, failed: dict[str, int] | None = None, rows: int = 100,
    at: datetime | None = None, progress: dict[str, Any] | None = None,
    stored: list[dict[str, Any]] | None = None, hour: str = "",
) -> int:  # fmt: skip
    """One more batch of a table, with its tally: how many rows break which rule."""
    catalog, contract = Catalog(), tables()[name].contract
    _make(catalog, contract)
    head = catalog.head(name)
    commit = head.stamp.commit + 1
    stamp = Stamp(commit, head.stamp.epoch, progress or head.stamp.progress)
    tally: dict[str, Any] = {
        "commit": commit, "at": (at or now()).isoformat(), "hour": hour, "batch": rows,
        "read": rows, "rows": rows,
        "failed": {r.name: (failed or {}).get(r.name, 0) for r in contract.all_rules()},
    }  # fmt: skip
    assert set(failed or {}) <= set(tally["failed"]), sorted(tally["failed"])
    verdicts = quality.verdicts(contract, tally)
    tally |= {"judged": quality.judged(contract, tally),
              "broken": [place for place, v in enumerate(verdicts) if not v.passed]}  # fmt: skip
    table = catalog.load(name)
    given = [row | {COMMIT: commit} for row in stored or []]
    with table.transaction() as tx:
        tx.set_properties({TALLY: json.dumps([tally, *head.tallies][:75])})
        frame = pa.Table.from_pylist(given, schema=table.schema().as_arrow())
        tx.append(frame, snapshot_properties={STAMP: json.dumps(asdict(stamp))})
    return commit


def _make(catalog: Catalog, contract: type[Table]) -> None:
    """Not partitioned: pyiceberg alone cannot write days."""
    if catalog.exists(contract.name):
        return
    catalog.iceberg.create_namespace_if_not_exists(contract.name.split(".")[0])
    table = catalog.iceberg.create_table(contract.name, schema.iceberg_schema(contract))
    born = {STAMP: json.dumps(asdict(Stamp(0, EPOCH, {})))}
    table.append(table.schema().as_arrow().empty_table(), snapshot_properties=born)


def hold(name: str, why: str) -> None:
    """A batch that broke an invariant, kept on its branch."""
    catalog = Catalog()
    head = catalog.head(name)
    stamp = Stamp(head.stamp.commit + 1, head.stamp.epoch, head.stamp.progress)
    table = catalog.load(name)
    table.manage_snapshots().create_branch(head.snapshot_id, "run_test").commit()
    nothing = table.schema().as_arrow().empty_table()
    properties = {STAMP: json.dumps(asdict(stamp))}
    catalog.load(name).append(nothing, snapshot_properties=properties, branch="run_test")
    catalog.hold(name, "run_test", why)


def remember(
    name: str, check: str, verdicts: str, last: datetime, every: timedelta, commit: int = 1
) -> None:
    """`ppf`: rows of the history, the newest last; it has told of the table up to that commit."""
    rows = [
        {"table": name, "check": check, "partition": "", "commit": n, "rows": 100,
         "failed": 7 if verdict == "f" else 0,
         "verdict": "failed" if verdict == "f" else "passed",
         "at": last - every * (len(verdicts) - 1 - n)}
        for n, verdict in enumerate(verdicts)
    ]  # fmt: skip
    catalog = Catalog()
    _make(catalog, tables()[HISTORY].contract)
    told = catalog.head(HISTORY).stamp.progress | {name: [commit, EPOCH]}
    publish(HISTORY, progress=told, stored=rows)


def set_aside(*reasons: str) -> None:
    """Records of RAW, one for each reason given."""
    rows = [
        {"source_table": RAW, "topic_generation": 0, "kafka_partition": 0, "kafka_offset": n,
         "ingest_hour": now(), "arrived_at": now() - timedelta(minutes=n), "stage": "parse",
         "refused_by": None, "reason": reason}
        for n, reason in enumerate(reasons)
    ]  # fmt: skip
    publish(QUARANTINE, stored=rows)


def evaluated(
    name: str, check: str, passed: bool, told: dict[str, Any], is_warning: bool = False
) -> None:
    severity = dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR
    dagster_home().mkdir(parents=True, exist_ok=True)  # as `lakehouse up` makes it
    shutil.copyfile(settings.ROOT / "dagster.yaml", dagster_home() / "dagster.yaml")
    with instance() as dagster:
        dagster.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                dg.AssetKey(name.split(".")), check, passed, told, severity=severity
            )
        )
