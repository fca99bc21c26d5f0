"""PostgreSQL's `weather` as a Dagster asset, behind the table of which it is made.

By sensor it rides in the run that brings news to that table; by hand everything is compared, and
what differs is replaced.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import dagster as dg

from lakehouse_assets.lake.head import Head
from lakehouse_assets.orchestration import report
from lakehouse_assets.orchestration.names import NEWS, Beside, asset_key
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.serving.alike import ON_ITS_WAY, look
from lakehouse_assets.serving.database import DATABASE
from lakehouse_assets.serving.weather import OURS, TABLE, Consumed, bring, consumed

GROUP, EQUALS = "weather", "equals_the_table"
KEY = asset_key(OURS)
NEXT_STEP = "materialize it by hand, which replaces what differs; then look who else writes there"

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult

SPEC = dg.AssetSpec(
    KEY, deps=[asset_key(TABLE)], group_name=GROUP, kinds={"postgres"},
    owners=[f"team:{GROUP}"], tags={"layer": "serving"},
    description=f"The table `weather` of PostgreSQL's database `{DATABASE}`, for pages: what"
    f" `{TABLE}` says, written in one transaction with the batch up to which it says it.",
    metadata={"dagster/table_name": f"{DATABASE}.public.weather"},
)  # fmt: skip
CHECK = dg.AssetCheckSpec(
    EQUALS, asset=KEY,
    description=f"Each row of `{TABLE}`, as of the batch that was consumed, is there, the same, and"
    f" no other; and that batch is no more than {ON_ITS_WAY.seconds // 60} minutes behind. By hand"
    " and daily; not in runs by sensor: it reads all of both.",
)  # fmt: skip


def beside() -> list[Beside]:
    """For the sensors."""
    return [Beside(KEY, TABLE, is_due, is_hourly=False)]


def is_due(head: Head, comes: bool) -> bool:
    """`comes`: the table is about to take news. Of a database that cannot be reached a run tells
    that brings news; where nothing was ever brought, the first one does.
    """
    if comes or head.snapshot_id < 0:
        return comes
    with suppress(ServiceError):
        return _is_behind(head)
    return False


def _is_behind(head: Head) -> bool:
    from psycopg.errors import UndefinedTable

    try:
        return consumed() != Consumed(head.stamp.epoch, head.stamp.commit)
    except UndefinedTable:
        return True


def to_asset() -> dg.AssetsDefinition:
    @dg.multi_asset(
        name="__".join(KEY.path), specs=[SPEC], check_specs=[CHECK], can_subset=True,
        op_tags={"dagster/priority": "1"},  # people wait for it
    )  # fmt: skip
    def run(context: dg.AssetExecutionContext, lake: LakeResource) -> Iterator[Result]:
        with report.plainly():
            if context.selected_asset_keys:
                yield _result(lake, by_news=NEWS in context.run.tags)
            if context.selected_asset_check_keys:
                yield _checked(lake)

    return run


def _result(lake: LakeResource, by_news: bool) -> "dg.MaterializeResult[Any]":
    done = bring(lake.lake.catalog, anew=not by_news)
    told = {
        "batch": done.consumed.batch, "epoch": done.consumed.epoch, "rows read": done.read,
        "rows written": done.written, "rows removed": done.removed,
        "everything compared": done.whole,
    }  # fmt: skip
    return dg.MaterializeResult(asset_key=KEY, metadata=told)


def _checked(lake: LakeResource) -> dg.AssetCheckResult:
    found = look(lake.lake.catalog)
    told: dict[str, Any] = {"rows": found.rows, "batches behind": found.behind}
    if found.late:
        told["why"] = found.late
    if found.wrong:
        told["differences"] = dg.MetadataValue.json(found.wrong)
    if not found.is_alike:
        told["next step"] = NEXT_STEP
    return dg.AssetCheckResult(
        asset_key=KEY, check_name=EQUALS, passed=found.is_alike, metadata=told
    )
