"""The shop's database as an asset that the lake does not make, where the lineage begins, and who
watches its capture: a sensor, since a look is one question and no run's worth.
"""

import time

import dagster as dg

from lakehouse_assets.lake.catalog import NoTable
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import Look, found
from lakehouse_assets.orchestration.asset import topic_spec
from lakehouse_assets.orchestration.standing import checks_of, standing_checks
from lakehouse_assets.origin import looks
from lakehouse_assets.raw.change import ChangeTable

LOOK_S = 60
TELL_S = 3_600  # how often a verdict is told that is still the same
DATABASE = dg.AssetKey(["postgres", looks.SHOP])
LOOKS = [
    Look(find.__name__, find.__doc__ or "", find, is_strict=True)
    for find in (looks.log_is_let_go, looks.changes_arrive)
]


def specs(tables: dict[str, LakeTable]) -> list[dg.AssetSpec]:
    """The topics that tables are read from, and the database that feeds some of them."""
    database = dg.AssetSpec(
        DATABASE, group_name=looks.SHOP, kinds={"postgres"},
        description="The shop's own database. Kafka Connect reads its log; the shop writes to it.",
    )  # fmt: skip
    topics = [
        topic_spec(t).replace_attributes(deps=[DATABASE] if _is_captured(t) else [])
        for t in tables.values()
        if t.topic
    ]
    return [database, *topics]


def checks(tables: dict[str, LakeTable]) -> list[dg.AssetChecksDefinition]:
    """Of every table as it stands, and of the capture, as soon as it has brought a table."""
    return [checks_of(_captured(tables), LOOKS, DATABASE), *standing_checks(tables, looks.looks_of)]


def watch(tables: dict[str, LakeTable]) -> dg.SensorDefinition:
    """Whether changes arrive and the log is let go, every minute."""

    @dg.sensor(
        name=f"{looks.SHOP}_capture",
        minimum_interval_seconds=LOOK_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Looks whether changes arrive and the database's log is let go of. Tells the "
        f"checks when a verdict is another one, and every {TELL_S // 60} minutes; starts no run.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        return look(context.instance, _captured(tables))

    return sensor


def look(instance: dg.DagsterInstance, table: LakeTable) -> dg.SensorResult | dg.SkipReason:
    """What is news of the capture, once it has brought a table."""
    lake = Lake()
    try:
        lake.catalog.head(table.name)
    except NoTable as nothing:
        return dg.SkipReason(str(nothing))
    verdicts = {look.name: found(look, lake, table) for look in LOOKS}
    news = [
        dg.AssetCheckEvaluation(DATABASE, name, passed, metadata)
        for name, (passed, metadata) in verdicts.items()
        if not _is_told(instance, name, passed)
    ]
    red = ", ".join(name for name, (passed, _) in verdicts.items() if not passed)
    return dg.SensorResult(asset_events=news, skip_reason=f"red: {red}" if red else "all is well")


def _is_told(instance: dg.DagsterInstance, name: str, passed: bool) -> bool:
    key = dg.AssetCheckKey(DATABASE, name)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
    newest = records.get(key)
    if newest is None or newest.evaluation is None or newest.evaluation.passed != passed:
        return False
    return time.time() - newest.create_timestamp < TELL_S


def _captured(tables: dict[str, LakeTable]) -> LakeTable:
    return next(t for t in tables.values() if _is_captured(t))


def _is_captured(table: LakeTable) -> bool:
    return issubclass(table.contract, ChangeTable)
