"""What Dagster loads: every table as an asset with its checks, what feeds them, what watches."""

import dagster as dg

from lakehouse_assets import analytics, marts, metadata, raw, semantic, staging
from lakehouse_assets.lake.table import LakeTable, discover
from lakehouse_assets.landing import asset as landing
from lakehouse_assets.orchestration.asset import to_assets
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.runs import failed_runs, old_runs
from lakehouse_assets.orchestration.sensors import source_sensors
from lakehouse_assets.orchestration.standing import data_quality
from lakehouse_assets.origin.asset import checks, specs, watch
from lakehouse_assets.serving import asset as serving


def tables() -> dict[str, LakeTable]:
    """Every table of the lake by name, parents before children."""
    return discover([raw, staging, semantic, analytics, marts, metadata])


defs = dg.Definitions(
    assets=[
        *specs(tables()), *to_assets(tables()), *landing.to_assets(tables()), serving.to_asset(),
    ],
    asset_checks=checks(tables()),
    sensors=[
        *source_sensors(tables(), *landing.beside(tables()), *serving.beside()),
        watch(tables()),
        old_runs,
        failed_runs,
    ],
    schedules=[data_quality()],
    resources={"lake": LakeResource()},
    executor=dg.in_process_executor,
)
