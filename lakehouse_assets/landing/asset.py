"""What is left for others as Dagster assets: one beside each raw table, by the same hours.

By sensor it rides in the run that brings news to its raw table, at most once a minute, and brings
up every hour that is behind. By hand it writes the chosen hours anew.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.landing.files import Files, Noted
from lakehouse_assets.landing.held import ON_THEIR_WAY, Finding, look
from lakehouse_assets.landing.hours import land, land_anew
from lakehouse_assets.landing.writing import Landed, as_it_is
from lakehouse_assets.orchestration import report
from lakehouse_assets.orchestration.asset import hours_of_run
from lakehouse_assets.orchestration.names import NEWS, Beside, asset_key, hours
from lakehouse_assets.orchestration.resource import LakeResource

SOURCES = ("storefront",)  # whose records are left
EVERY_S = 60  # how often an hour that goes on is written
HOLDS = "holds_what_raw_holds"

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult


def left_of(tables: dict[str, LakeTable]) -> list[LakeTable]:
    """The raw tables whose records are left."""
    return [t for t in tables.values() if t.topic and t.group in SOURCES]


def to_assets(tables: dict[str, LakeTable]) -> list[dg.AssetsDefinition]:
    return [_asset(table) for table in left_of(tables)]


def beside(tables: dict[str, LakeTable]) -> list[Beside]:
    """For the sensors."""
    return [Beside(_key(t), t.name, partial(is_due, t)) for t in left_of(tables)]


def is_due(table: LakeTable, head: Head, comes: bool) -> bool:
    """`comes`: the raw table is about to take news."""
    files = Files(table)
    with suppress(OSError):  # of a place that cannot be reached a run tells that brings news
        if time.time() - files.noted_at() < EVERY_S:
            return False
        return comes or (head.snapshot_id >= 0 and files.noted() != Noted.of(head))
    return comes


def _key(table: LakeTable) -> dg.AssetKey:
    return asset_key(Files(table).name)


def _asset(table: LakeTable) -> dg.AssetsDefinition:
    files, key = Files(table), _key(table)
    spec = dg.AssetSpec(
        key,
        deps=[asset_key(table.name)],
        description=f"The good records of `{table.name}` for anybody who reads Avro, one file an "
        "hour: the envelope as it was captured, and in `kafka` where each record is.",
        group_name=table.group,
        kinds={"avro"},
        owners=[f"team:{table.group}"],
        tags={"layer": "landing"} | ({"pii": "true"} if table.contract.pii() else {}),
        metadata={"dagster/uri": f"{files.place.address}/{files.folder}"},
    )
    check = dg.AssetCheckSpec(
        HOLDS, asset=key,
        description=f"The files hold each good record of `{table.name}` once, and no other; what "
        f"came within {ON_THEIR_WAY.seconds // 60} minutes may be on its way. By hand for an hour, "
        "and daily; not in runs by sensor: it reads all of a file.",
    )  # fmt: skip

    @dg.multi_asset(
        name="__".join(key.path), specs=[spec], check_specs=[check], can_subset=True,
        partitions_def=hours(), backfill_policy=dg.BackfillPolicy.single_run(),
        op_tags={"dagster/priority": "-1"},  # after what is made of the raw table
    )  # fmt: skip
    def run(context: dg.AssetExecutionContext, lake: LakeResource) -> Iterator[Result]:
        wanted = hours_of_run(context)
        with report.plainly():
            if context.selected_asset_keys:
                by_news = NEWS in context.run.tags
                done = land(lake.lake, table) if by_news else land_anew(lake.lake, table, wanted)
                yield _result(context, lake.lake, table, wanted, done)
            if context.selected_asset_check_keys:
                yield _checked(key, look(lake.lake, table, wanted))

    return run


def _result(
    context: dg.AssetExecutionContext,
    lake: Lake,
    table: LakeTable,
    wanted: list[datetime],
    done: list[Landed],
) -> "dg.MaterializeResult[Any]":
    """Each hour is told of under its own partition, that of the run or another."""
    files, key, by_hour = Files(table), _key(table), {one.hour: one for one in done}
    for hour in wanted:
        if hour not in by_hour and (left := files.left(hour)):
            by_hour[hour] = as_it_is(files, hour, left)
    for hour, landed in by_hour.items():
        partition = f"{hour:{settings.HOUR_FORMAT}}"
        if hour in wanted:
            context.add_asset_metadata(_told(landed), key, partition)
        else:
            context.log_event(
                dg.AssetMaterialization(key, partition=partition, metadata=_told(landed))
            )
    seconds = {name: round(took, 3) for name, took in lake.seconds.items()}
    return dg.MaterializeResult(
        asset_key=key,
        metadata={"hours written": len(done), "seconds": dg.MetadataValue.json(seconds)},
    )


def _told(landed: Landed) -> dict[str, Any]:
    if not landed.is_there:
        return {"note": f"the raw table has no such hour, and so there is no {landed.address}"}
    return {
        "dagster/partition_row_count": landed.rows,
        "dagster/uri": landed.address,
        "path": dg.MetadataValue.path(landed.address),
        "rows": landed.rows,
        "rows added": landed.added,
        "bytes": landed.bytes,
    }


def _checked(key: dg.AssetKey, found: Finding) -> dg.AssetCheckResult:
    told: dict[str, Any] = {"hours": found.hours, "records": found.records}
    if found.wrong:
        told["differences"] = dg.MetadataValue.json(found.wrong)
        told["next step"] = "materialize these hours; then look at what else writes there"
    return dg.AssetCheckResult(
        asset_key=key, check_name=HOLDS, passed=not found.wrong, metadata=told
    )
