"""What a run tells Dagster: a materialization's metadata, and a result for every check."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import dagster as dg

from lakehouse_assets import trouble
from lakehouse_assets.lake import quality
from lakehouse_assets.lake.advance import Outcome
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.scope import iso
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.lineage.columns import columns, kept
from lakehouse_assets.lineage.plan import NotUnderstood
from lakehouse_assets.looks import audit
from lakehouse_assets.orchestration.names import HELD, UNIQUE, asset_key
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.topics.kafka import Kafka, KafkaDown, NoTopic
from lakehouse_assets.topics.position import RecordsLost, position, topic_of
from lakehouse_assets.upkeep.maintenance import maintain


@contextmanager
def plainly() -> Iterator[None]:
    """What is known to go wrong fails the run by its one message, not by pages of gRPC and Java."""
    try:
        yield
    except dg.Failure:
        raise
    except Exception as error:
        if said := trouble.told(error):
            raise dg.Failure(said) from error
        raise


def results(
    lake: LakeResource, outcome: Outcome, hours: list[datetime], wanted: list[str]
) -> Iterator[dg.AssetCheckResult]:
    """Every wanted check, from the counts the write made; examples for the failing ones only."""
    table = outcome.table
    tally = _tally(outcome, [iso(hour) for hour in hours] or [""])
    verdicts = quality.verdicts(table.contract, tally) if tally else []
    failing = [v for v in verdicts if not v.passed and v.rule.name in wanted]
    before = outcome.published[0].head if outcome.published else None
    shown = audit.examples(lake.lake, table, hours, before, failing) if before and failing else {}
    given = {v.rule.name: check_result(table, v, shown.get(v.rule.name, [])) for v in verdicts}
    for name in wanted:
        if name in given:
            yield given[name]
        else:  # invariants: the batch would not have been published otherwise
            note = f"true of batch {tally['commit']}" if tally else "no data yet"
            yield dg.AssetCheckResult(
                asset_key=asset_key(table.name), check_name=name, passed=True,
                metadata={"note": note},
            )  # fmt: skip


def _tally(outcome: Outcome, labels: list[str]) -> dict[str, Any]:
    """The newest tallies of some hours as one; empty if none of them has any."""
    older = reversed(outcome.head.tallies) if outcome.head else []
    newest = {t["hour"]: t for t in [*older, *(p.tally for p in outcome.published)]}
    found = [newest[label] for label in labels if label in newest]
    summed = {n: sum(t[n] for t in found) for n in ("read", "rows")}
    failed = sum((Counter(t["failed"]) for t in found), Counter[str]())
    commit = max((t["commit"] for t in found), default=0)
    return summed | {"failed": failed, "commit": commit} if found else {}


def check_only(
    lake: LakeResource, table: LakeTable, hours_wanted: list[datetime], wanted: list[str]
) -> Iterator[dg.AssetCheckResult]:
    """The same rules over the partitions or the table as they stand."""
    report = audit.audit(lake.lake, table, hours_wanted)
    key = asset_key(table.name)
    for name in wanted:
        if name == HELD:
            passed, why = _goes_on(table, report.head)
            yield dg.AssetCheckResult(
                asset_key=key, check_name=name, passed=passed,
                metadata={"why" if not passed else "note": why},
            )  # fmt: skip
        elif name == UNIQUE:
            yield dg.AssetCheckResult(
                asset_key=key, check_name=name, passed=report.repeated_keys == 0,
                metadata={"repeated_keys": report.repeated_keys, "rows": report.rows},
            )  # fmt: skip
        else:
            verdict = next(v for v in report.verdicts if v.rule.name == name)
            yield check_result(table, verdict, report.examples.get(name, []))


def _goes_on(table: LakeTable, head: Head | None) -> tuple[bool, str]:
    """Whether nothing keeps the table from its next batch; else what does, and the way out."""
    if head is not None and head.held:
        return False, head.held.told(table.name)
    try:
        if head is not None and table.topic:
            position(head, topic_of(Kafka(), head, table.topic))
    except RecordsLost as lost:
        return False, str(lost)
    except (KafkaDown, NoTopic) as unknown:
        return True, f"nothing is held; whether records were lost cannot be told: {unknown}"
    return True, "nothing is held, nothing was lost"


def check_result(
    table: LakeTable, verdict: quality.Verdict, examples: list[dict[str, Any]]
) -> dg.AssetCheckResult:
    rule = verdict.rule
    metadata: dict[str, Any] = {
        "failed": verdict.failed,
        "rows": verdict.rows,
        "share": round(verdict.share, 6),
        "threshold": rule.threshold,
        "rule": rule.sql,
    }
    if examples:
        metadata["examples"] = dg.MetadataValue.json(examples)
    elif not verdict.passed:
        metadata["examples"] = "none in the newest batch; execute this check alone to see some"
    if not verdict.passed and table.contract.refuses and rule.refuses:
        metadata["next step"] = "`lakehouse quarantine list` shows the rows that were set aside"
    measured = table.layer in ("raw", "staging")
    return dg.AssetCheckResult(
        asset_key=asset_key(table.name),
        check_name=rule.name,
        passed=verdict.passed,
        severity=dg.AssetCheckSeverity.WARN if measured else dg.AssetCheckSeverity.ERROR,
        metadata=metadata,
        description=f"{verdict.failed} of {verdict.rows} rows fail; allowed {verdict.allowed}",
    )


def run_metadata(lake: LakeResource, outcome: Outcome) -> dict[str, Any]:
    """What one materialization did, under Dagster's standard keys where there are some."""
    table, head, done = outcome.table, outcome.head, outcome.published
    read, refused = sum(p.read for p in done), sum(p.refused for p in done)
    stored = sum(p.stored for p in done)
    metadata: dict[str, Any] = {
        "rows read": read,
        "rows stored": stored,
        "rows replaced or removed": sum(p.removed for p in done),
    }
    if table.contract.refuses:
        metadata["rows rejected"] = refused
        metadata["duplicates and older versions"] = max(read - refused - stored, 0)
    if table.topic:
        metadata |= _of_topic(outcome)
    metadata |= {
        "seconds": dg.MetadataValue.json({k: round(v, 3) for k, v in outcome.seconds.items()}),
        "files": sum(int(p.summary.get("added-data-files", 0)) for p in done),
        "bytes": sum(int(p.summary.get("added-files-size", 0)) for p in done),
    }
    if head is not None:
        metadata |= {
            "dagster/row_count": head.rows,
            "dagster/uri": lake.lake.catalog.load(table.name).location(),
            "snapshot": str(head.snapshot_id),
            "commit": head.stamp.commit,
        }
    if table.parents:
        metadata |= _lineage(lake.lake, table, bool(done))
    if outcome.note:
        metadata["note"] = outcome.note
    return metadata


def _of_topic(outcome: Outcome) -> dict[str, Any]:
    """Offsets from and to, by Kafka partition, and what is left in the topic."""
    before = outcome.published[0].head.stamp.progress.get("next", {}) if outcome.published else {}
    after = outcome.head.stamp.progress.get("next", {}) if outcome.head else {}
    spans = {p: [before.get(p, 0), after[p]] for p in after} if outcome.published else {}
    told = {"offsets": dg.MetadataValue.json(spans), "records waiting": outcome.lag}
    counted = {"dagster/partition_row_count": outcome.tally["rows"]} if outcome.tally else {}
    return told | counted


def _lineage(lake: Lake, table: LakeTable, may_ask: bool) -> dict[str, Any]:
    """As the transform's plan tells, which Spark is asked for once for each version of the code; a
    run that made nothing asks nothing.
    """
    try:
        found = columns(lake, table) if may_ask else kept(table)
    except NotUnderstood as error:
        return {"column lineage": f"cannot be told: {error}"}
    if found is None:
        return {}
    deps = {
        name: [dg.TableColumnDep(asset_key(one.frame), one.column) for one in sources if one.column]
        for name, sources in found.items()
    }
    some = {name: theirs for name, theirs in deps.items() if theirs}
    return {"dagster/column_lineage": dg.TableColumnLineage(some)}


def maintained(context: dg.AssetExecutionContext, lake: LakeResource, head: Head) -> str:
    """The batch is published already: housekeeping that failed is told, and tried again later."""
    from pyspark.errors import PySparkException

    try:
        return maintain(lake.lake, head) or "nothing due"
    except PySparkException as error:
        context.log.warning(f"{head.name}: maintenance failed, the data is unharmed: {error}")
        return f"failed, will be tried again: {str(error)[:300]}"
