"""A lake table as a Dagster asset: its spec, its checks, and what running it does.

Each table is a one-asset `multi_asset`: checks ride with the materialization (their counts come
from the write) and can be executed alone (then the same rules are counted over the partition or
the table as it stands).
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake.advance import Outcome, advance, rebuild
from lakehouse_assets.lake.contract import Rule, Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Held
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration import report
from lakehouse_assets.orchestration.ahead import Make
from lakehouse_assets.orchestration.names import (
    HELD,
    METADATA,
    NEWS,
    UNIQUE,
    asset_key,
    hours,
    topic_key,
)
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.topics.position import RecordsLost

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult


def topic_spec(table: LakeTable) -> dg.AssetSpec:
    """The topic itself, so that lineage begins where the data does."""
    return dg.AssetSpec(
        topic_key(table.topic),
        group_name=table.group,
        kinds={"kafka"},
        description=f"Kafka topic `{table.topic}`, read by `{table.name}`.",
    )


def to_assets(tables: dict[str, LakeTable]) -> list[dg.AssetsDefinition]:
    """Tables about the lake come after those that nothing is made of, and so after all; of a run's
    steps they are the last by their priority, too. An edge from every table would hide the lineage.
    """
    read = {key for t in tables.values() for key in _deps(t)}
    last = [key for t in tables.values() if not t.source and (key := asset_key(t.name)) not in read]
    return [to_asset(t, last if t.source else _deps(t), tables) for t in tables.values()]


def to_asset(
    table: LakeTable, deps: list[dg.AssetKey], tables: dict[str, LakeTable]
) -> dg.AssetsDefinition:
    """`tables`: all there are, since a run makes some of its tables while steps tell of others."""
    spec = dg.AssetSpec(
        asset_key(table.name),
        deps=deps,
        description=table.contract.doc(),
        group_name=table.group,
        kinds={"pyspark", "iceberg"},
        owners=[f"team:{table.group}"],
        tags={"layer": table.layer} | ({"pii": "true"} if table.contract.pii() else {}),
        code_version=table.code_version(),
        metadata=_definition_metadata(table),
    )

    @dg.multi_asset(
        name=_step(table),
        specs=[spec],
        check_specs=check_specs(table),
        can_subset=True,
        partitions_def=hours() if table.hourly else None,
        backfill_policy=dg.BackfillPolicy.single_run() if table.hourly else None,
        pool=METADATA if table.layer == METADATA else None,
        op_tags={"dagster/priority": _priority(table)},
    )
    def run(context: dg.AssetExecutionContext, lake: LakeResource) -> Iterator[Result]:
        wanted = sorted(k.name for k in context.selected_asset_check_keys)
        hours_wanted = hours_of_run(context) if table.hourly else []
        with report.plainly():
            if context.selected_asset_keys:
                yield from _materialize(context, lake, table, tables, hours_wanted, wanted)
            else:
                yield from report.check_only(lake, table, hours_wanted, wanted)

    return run


def check_specs(table: LakeTable) -> list[dg.AssetCheckSpec]:
    key = asset_key(table.name)
    rules = [
        dg.AssetCheckSpec(
            r.name,
            asset=key,
            description=_described(r),
        )
        for r in table.contract.all_rules()
    ]
    held = dg.AssetCheckSpec(
        HELD, asset=key, blocking=True,
        description="No batch is held back by a broken invariant, and no record was lost.",
    )  # fmt: skip
    unique = dg.AssetCheckSpec(
        UNIQUE, asset=key,
        description=f"One row per {', '.join(table.contract.key())}. A run judges what it writes, "
        "and a batch that gives a key twice is held; executed alone, this reads the whole table.",
    )  # fmt: skip
    return [held, unique, *rules]


def _described(rule: Rule) -> str:
    sql = rule.sql.replace("`", "")  # which would end the quotation
    return f"{rule.doc or sql}. At most {rule.threshold:.0%} of rows may fail `{sql}`."[:1_000]


def riding(wanted: list[LakeTable]) -> list[dg.AssetCheckKey]:
    """The checks of a run by sensor. The lake's own accounts are checked daily: a check is three
    events to store.
    """
    return [spec.key for t in wanted if t.layer != METADATA for spec in check_specs(t)]


def _materialize(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    table: LakeTable,
    tables: dict[str, LakeTable],
    hours_wanted: list[datetime],
    checks: list[str],
) -> Iterator[Result]:
    try:
        outcome = lake.ahead(lambda: _of_run(context, tables)).outcome(table)
    except (Held, RecordsLost) as stopped:
        if HELD in checks:
            yield dg.AssetCheckResult(
                asset_key=asset_key(table.name), check_name=HELD, passed=False,
                metadata={"why": str(stopped)},
            )  # fmt: skip
        raise dg.Failure(str(stopped), allow_retries=False) from stopped
    if len(hours_wanted) > 1 and not table.topic:
        hours_wanted = []  # it was rebuilt: judge the whole
    metadata = report.run_metadata(lake, outcome)
    if len(hours_wanted) > 1:  # every hour of the range is given the same metadata
        metadata.pop("dagster/partition_row_count", None)
    if outcome.published and outcome.head is not None:
        metadata["maintenance"] = report.maintained(context, lake, outcome.head)
    yield dg.MaterializeResult(asset_key=asset_key(table.name), metadata=metadata)
    yield from report.results(lake, outcome, hours_wanted, checks)


def _of_run(
    context: dg.AssetExecutionContext, tables: dict[str, LakeTable]
) -> tuple[list[LakeTable], Make]:
    """The tables that this run materializes, and how."""
    steps = context.run.step_keys_to_execute
    keys = context.job_def.asset_layer.executable_asset_keys
    mine = [t for t in tables.values() if asset_key(t.name) in keys]
    mine = [t for t in mine if steps is None or _step(t) in steps]
    hours_wanted, by_hand = hours_of_run(context), NEWS not in context.run.tags

    def make(lake: Lake, table: LakeTable) -> Outcome:
        return _made(lake, table, hours_wanted if table.hourly else [], by_hand)

    return mine, make


def hours_of_run(context: dg.AssetExecutionContext) -> list[datetime]:
    """Those of the run, whichever of its steps asks."""
    keys: Sequence[str] = []
    if context.has_partition_key_range:
        keys = hours().get_partition_keys_in_range(context.partition_key_range)
    elif context.has_partition_key:
        keys = [context.partition_key]
    return [settings.parse_hour(key) for key in keys]


def _made(lake: Lake, table: LakeTable, hours_wanted: list[datetime], by_hand: bool) -> Outcome:
    if len(hours_wanted) > 1 and not table.topic:
        return rebuild(lake, table)
    each: list[datetime | None] = [*hours_wanted] or [None]
    outcomes = [advance(lake, table, hour, anew=by_hand) for hour in each]
    outcomes[-1].published = [p for o in outcomes for p in o.published]
    return outcomes[-1]


def _step(table: LakeTable) -> str:
    return table.name.replace(".", "__")


def _priority(table: LakeTable) -> str:
    """Marts before what is told of raw's records beside them, which could else go first; what tells
    of commits at the end.
    """
    of_records = not table.hourly and any(parent.topic for parent in table.parents.values())
    return "-2" if table.source else "-1" if of_records or table.layer == METADATA else "0"


def _deps(table: LakeTable) -> list[dg.AssetKey]:
    if table.topic:
        return [topic_key(table.topic)]
    return [asset_key(p.name) for p in table.upstream]


def _definition_metadata(table: LakeTable) -> dict[str, Any]:
    contract = table.contract
    columns = [
        dg.TableColumn(
            n, c.type, description=c.doc + (" PII." if c.pii else ""),
            constraints=dg.TableColumnConstraints(nullable=c.nullable, unique=False),
        )
        for n, c in contract.columns.items()
    ]  # fmt: skip
    return {
        "dagster/column_schema": dg.TableSchema(columns=columns),
        "dagster/code_references": _code_of(contract),
        "dagster/table_name": f"{settings.CATALOG}.{contract.name}",
        "dagster/storage_kind": "iceberg",
        "key": ", ".join(contract.key()),
        "partitioned by": contract.layout.partitioned_by or "nothing",
    }


def _code_of(contract: type[Table]) -> dg.CodeReferencesMetadataValue:
    """Where the UI's "open in editor" leads: the table's own file."""
    file = str(sys.modules[contract.__module__].__file__)
    with warnings.catch_warnings():  # a beta of Dagster's, which every command would announce
        warnings.simplefilter("ignore")
        return dg.CodeReferencesMetadataValue(
            code_references=[dg.LocalFileCodeReference(file_path=file)]
        )
