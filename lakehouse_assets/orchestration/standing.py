"""Checks of a table as it stands, from `looks/`.

They ride with no run and write nothing. The daily schedule executes them, and so can anybody from
the checks tab.
"""

from collections.abc import Callable, Iterator

import dagster as dg

from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import Look, found, looks_of
from lakehouse_assets.orchestration.names import asset_key
from lakehouse_assets.orchestration.report import plainly
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.runs import DAILY_CHECKS, SOURCE

DAILY = "0 4 * * *"  # UTC, when few people wait for a run
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


def standing_checks(
    tables: dict[str, LakeTable], more: Callable[[LakeTable], list[Look]] = lambda _: []
) -> list[dg.AssetChecksDefinition]:
    """`more`: looks at a table beside those that its contract asks for."""
    looks = {name: [*looks_of(table), *more(table)] for name, table in tables.items()}
    return [checks_of(tables[name], of, asset_key(name)) for name, of in looks.items() if of]


def checks_of(table: LakeTable, of: list[Look], key: dg.AssetKey) -> dg.AssetChecksDefinition:
    """Looks as the asset's checks; without the table there is nothing to look at."""
    looks = {look.name: look for look in of}
    specs = [dg.AssetCheckSpec(n, asset=key, description=f.doc) for n, f in looks.items()]

    @dg.multi_asset_check(
        name=f"{'__'.join(key.path)}__as_it_stands", specs=specs, can_subset=True
    )
    def run(
        context: dg.AssetCheckExecutionContext, lake: LakeResource
    ) -> Iterator[dg.AssetCheckResult]:
        for name in sorted(k.name for k in context.selected_asset_check_keys):
            with plainly():
                passed, metadata = found(looks[name], lake.lake, table)
            severity = ERROR if looks[name].is_strict else WARN
            yield dg.AssetCheckResult(
                passed=passed, asset_key=key, check_name=name, severity=severity, metadata=metadata
            )

    return run


def data_quality() -> dg.ScheduleDefinition:
    """Every rule over every table as it stands, not only over the newest batch."""
    job = dg.define_asset_job(
        DAILY_CHECKS,
        selection=dg.AssetSelection.all_asset_checks(),
        description="Executes every check of every table over all rows; writes nothing.",
        tags={SOURCE: DAILY_CHECKS},
    )
    return dg.ScheduleDefinition(
        name="data_quality_daily",
        job=job,
        cron_schedule=DAILY,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
