"""A lake table as a Dagster asset: its spec, its checks, and what running it does.

Each table is a one-asset `multi_asset`: checks ride with the materialization (their counts come from the write) and can
be executed alone (then the same rules are counted over the partition or the table as it stands).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake import audit, quality
from lakehouse_assets.lake.advance import Outcome, advance, rebuild
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.resource import LakeResource
from lakehouse_assets.lake.table import LakeTable

NEWS = "lakehouse/news"  # run tag of the sensor: take the news, do not compute the hour anew
HELD = "publishes"  # red while a batch is held
UNIQUE = "key_is_unique"
HOUR_FORMAT = "%Y-%m-%d-%H:%M"

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult


def hours() -> dg.HourlyPartitionsDefinition:
    """From the hour of first set-up to the open hour, which is included."""
    return dg.HourlyPartitionsDefinition(
        start_date=settings.first_hour(), end_offset=1, fmt=HOUR_FORMAT, timezone="UTC"
    )


def asset_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("."))


def topic_key(topic: str) -> dg.AssetKey:
    return dg.AssetKey(["kafka", topic])


def topic_spec(table: LakeTable) -> dg.AssetSpec:
    """The topic itself, so that lineage begins where the data does."""
    return dg.AssetSpec(
        topic_key(table.topic),
        group_name=table.group,
        kinds={"kafka"},
        description=f"Kafka topic `{table.topic}`, read by `{table.name}`.",
    )


def to_asset(table: LakeTable) -> dg.AssetsDefinition:
    spec = dg.AssetSpec(
        asset_key(table.name),
        deps=_deps(table),
        description=table.contract.doc(),
        group_name=table.group,
        kinds={"pyspark", "iceberg"},
        owners=[f"team:{table.group}"],
        tags={"layer": table.layer} | ({"pii": "true"} if table.contract.pii() else {}),
        code_version=table.code_version(),
        metadata=_definition_metadata(table.contract),
    )

    @dg.multi_asset(
        name=table.name.replace(".", "__"),
        specs=[spec],
        check_specs=check_specs(table),
        can_subset=True,
        partitions_def=hours() if table.hourly else None,
        backfill_policy=dg.BackfillPolicy.single_run() if table.hourly else None,
        pool="metadata" if table.layer == "metadata" else None,
    )
    def run(context: dg.AssetExecutionContext, lake: LakeResource) -> Iterator[Result]:
        wanted = sorted(k.name for k in context.selected_asset_check_keys)
        partitioned = context.has_partition_key or context.has_partition_key_range
        keys = context.partition_keys if table.hourly and partitioned else []
        hours_wanted = [_parse(k) for k in keys]
        if context.selected_asset_keys:
            yield from _materialize(context, lake, table, hours_wanted, wanted)
        else:
            yield from _check_only(lake, table, hours_wanted, wanted)

    return run


def check_specs(table: LakeTable) -> list[dg.AssetCheckSpec]:
    key = asset_key(table.name)
    rules = [
        dg.AssetCheckSpec(
            r.name,
            asset=key,
            description=f"{r.doc or r.sql}. At most {r.threshold:.0%} of rows may fail `{r.sql}`."[:1000],
        )
        for r in table.contract.all_rules()
    ]
    held = dg.AssetCheckSpec(
        HELD, asset=key, description="No batch is held back by a broken invariant.", blocking=True
    )
    unique = dg.AssetCheckSpec(
        UNIQUE, asset=key, description=f"One row per {', '.join(table.contract.key())}."
    )
    return [held, unique, *rules]


def _materialize(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    table: LakeTable,
    hours_wanted: list[datetime],
    checks: list[str],
) -> Iterator[Result]:
    by_hand = NEWS not in context.run_tags
    lake.lake.seconds.clear()
    try:
        if len(hours_wanted) > 1 and not table.topic:
            outcome = rebuild(lake.lake, table)
        else:
            outcomes = [
                advance(lake.lake, table, hour, anew=by_hand) for hour in hours_wanted or [None]
            ]
            outcome = outcomes[-1]
            outcome.published = [p for o in outcomes for p in o.published]
    except Held as held:
        if HELD in checks:
            yield dg.AssetCheckResult(
                asset_key=asset_key(table.name), check_name=HELD, passed=False,
                metadata={"why": str(held)},
            )  # fmt: skip
        raise dg.Failure(str(held), allow_retries=False) from held
    yield dg.MaterializeResult(
        asset_key=asset_key(table.name), metadata=run_metadata(lake, outcome, hours_wanted)
    )
    yield from _results(lake, table, outcome, checks)


def _results(
    lake: LakeResource, table: LakeTable, outcome: Outcome, wanted: list[str]
) -> Iterator[dg.AssetCheckResult]:
    """Every wanted check, from the counts the write made; examples for the failing ones only."""
    head = outcome.head
    tally = outcome.tally or (head.tallies[0] if head and head.tallies else None)
    verdicts = quality.verdicts(table.contract, tally) if tally else []
    failing = [v.rule for v in verdicts if not v.passed and v.rule.name in wanted]
    shown = audit.examples(lake.lake, table, failing, tally) if tally else {}
    given = {v.rule.name: check_result(table, v, shown.get(v.rule.name, [])) for v in verdicts}
    for name in wanted:
        if name in given:
            yield given[name]
        else:  # invariants: the batch would not have been published otherwise
            yield _invariant(table, name, tally)


def _invariant(table: LakeTable, name: str, tally: dict[str, Any] | None) -> dg.AssetCheckResult:
    note = "no data yet" if tally is None else f"holds for batch {tally['commit']} and all before it"
    return dg.AssetCheckResult(
        asset_key=asset_key(table.name), check_name=name, passed=True, metadata={"note": note}
    )


def _check_only(
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


def _deps(table: LakeTable) -> list[dg.AssetKey]:
    if table.topic:
        return [topic_key(table.topic)]
    return [asset_key(p.name) for p in table.parents.values()]


def _definition_metadata(contract: type[Table]) -> dict[str, Any]:
    columns = [
        dg.TableColumn(
            n, c.type, description=c.doc + (" PII." if c.pii else ""),
            constraints=dg.TableColumnConstraints(nullable=c.nullable, unique=False),
        )
        for n, c in contract.columns.items()
    ]  # fmt: skip
    return {
        "dagster/column_schema": dg.TableSchema(columns=columns),
        "dagster/table_name": f"{settings.CATALOG}.{contract.name}",
        "dagster/storage_kind": "iceberg",
        "key": ", ".join(contract.key()),
        "partitioned by": contract.layout.partitioned_by or "nothing",
    }


def _parse(partition: str) -> datetime:
    return datetime.strptime(partition, HOUR_FORMAT).replace(tzinfo=UTC)
