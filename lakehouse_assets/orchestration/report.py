"""What a run tells Dagster: a materialization's metadata, and a result for every check."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import dagster as dg

from lakehouse_assets.lake import audit, quality
from lakehouse_assets.lake.advance import Outcome
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.maintenance import maintain
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.names import HELD, UNIQUE, asset_key
from lakehouse_assets.orchestration.resource import LakeResource


def results(
    lake: LakeResource, table: LakeTable, outcome: Outcome, wanted: list[str]
) -> Iterator[dg.AssetCheckResult]:
    """Every wanted check, from the counts the write made; examples for the failing ones only."""
    head = outcome.head
    tally = outcome.tally or (head.tallies[0] if head and head.tallies else None)
    verdicts = quality.verdicts(table.contract, tally) if tally else []
    failing = [v.rule for v in verdicts if not v.passed and v.rule.name in wanted]
    newest = outcome.published[-1] if outcome.published else None
    shown = audit.examples(lake.lake, table, failing, newest) if newest else {}
    given = {v.rule.name: check_result(table, v, shown.get(v.rule.name, [])) for v in verdicts}
    for name in wanted:
        if name in given:
            yield given[name]
        else:  # invariants: the batch would not have been published otherwise
            yield _invariant(table, name, tally)


def _invariant(table: LakeTable, name: str, tally: dict[str, Any] | None) -> dg.AssetCheckResult:
    note = (
        "no data yet" if tally is None else f"holds for batch {tally['commit']} and all before it"
    )
    return dg.AssetCheckResult(
        asset_key=asset_key(table.name), check_name=name, passed=True, metadata={"note": note}
    )


def check_only(
    lake: LakeResource, table: LakeTable, hours_wanted: list[datetime], wanted: list[str]
) -> Iterator[dg.AssetCheckResult]:
    """The same rules over the partitions or the table as they stand."""
    report = audit.audit(lake.lake, table, hours_wanted)
    key = asset_key(table.name)
    for name in wanted:
        if name == HELD:
            yield dg.AssetCheckResult(
                asset_key=key, check_name=name, passed=not report.held,
                metadata={"held": ", ".join(report.held) or "nothing"},
            )  # fmt: skip
        elif name == UNIQUE:
            yield dg.AssetCheckResult(
                asset_key=key, check_name=name, passed=report.repeated_keys == 0,
                metadata={"repeated_keys": report.repeated_keys, "rows": report.rows},
            )  # fmt: skip
        else:
            verdict = next(v for v in report.verdicts if v.rule.name == name)
            yield check_result(table, verdict, report.examples.get(name, []))


def check_result(
    table: LakeTable, verdict: quality.Verdict, examples: list[dict[str, Any]]
) -> dg.AssetCheckResult:
    rule = verdict.rule
    metadata: dict[str, Any] = {
        "failed": verdict.failed,
        "rows": verdict.rows,
        "share": round(verdict.share, 6),
        "threshold": rule.threshold,
        "rule": dg.MetadataValue.md(f"`{rule.sql}`"),
    }
    if examples:
        metadata["examples"] = dg.MetadataValue.json(examples)
    if not verdict.passed and table.contract.refuses:
        metadata["next step"] = "`lakehouse quarantine list` shows the rows that were set aside"
    measured = table.layer in ("raw", "staging")
    return dg.AssetCheckResult(
        asset_key=asset_key(table.name),
        check_name=rule.name,
        passed=verdict.passed,
        severity=dg.AssetCheckSeverity.WARN if measured else dg.AssetCheckSeverity.ERROR,
        metadata=metadata,
        description=f"{verdict.failed} of {verdict.rows} rows fail; allowed {rule.threshold:.0%}",
    )


def run_metadata(
    lake: LakeResource, outcome: Outcome, hours_wanted: list[datetime]
) -> dict[str, Any]:
    """What one materialization did, under Dagster's standard keys where there are some."""
    head, done = outcome.head, outcome.published
    read = sum(p.read for p in done)
    refused = sum(int(p.tally["refused"]) for p in done[-1:])
    metadata: dict[str, Any] = {
        "rows read": read,
        "rows stored": sum(p.stored for p in done),
        "rows replaced or removed": sum(p.removed for p in done),
        "seconds": dg.MetadataValue.json({k: round(v, 3) for k, v in lake.lake.seconds.items()}),
    }
    if head is not None:
        metadata |= {"dagster/row_count": head.rows, "snapshot": str(head.snapshot_id)}
        metadata["commit"] = head.stamp.commit
    if outcome.table.contract.refuses and done:
        metadata["rows rejected (this hour)"] = refused
        stored = sum(p.stored for p in done)
        metadata["duplicates and older versions"] = max(read - refused - stored, 0)
    if outcome.table.topic and head is not None:
        metadata["next offsets"] = dg.MetadataValue.json(head.stamp.progress.get("next", {}))
        metadata["records waiting"] = outcome.lag
    if hours_wanted and outcome.tally:
        metadata["dagster/partition_row_count"] = int(outcome.tally["rows"])
    if done:
        summary = done[-1].summary
        metadata["files"] = int(summary.get("added-data-files", 0))
        metadata["bytes"] = int(summary.get("added-files-size", 0))
    if outcome.note:
        metadata["note"] = outcome.note
    return metadata


def maintained(context: dg.AssetExecutionContext, lake: LakeResource, head: Head) -> str:
    """The batch is published already: housekeeping that failed is told, and tried again later."""
    from pyspark.errors import PySparkException

    try:
        return maintain(lake.lake, head) or "nothing due"
    except PySparkException as error:
        context.log.warning(f"{head.name}: maintenance failed, the data is unharmed: {error}")
        return f"failed, will be tried again: {str(error)[:300]}"
