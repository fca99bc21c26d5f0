"""What is left of a raw table as Dagster shows it: by hand, by the run of the source's sensor, and
checked.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import dagster as dg
import pytest

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.landing import asset
from lakehouse_assets.landing.hours import land
from lakehouse_assets.orchestration.asset import to_asset
from lakehouse_assets.orchestration.names import NEWS
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.sensors import sources, tick
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.landing.shop import EARLIER, Orders

KEY = dg.AssetKey(["landing", "storefront_orders"])


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def named(hour: Any) -> str:
    return f"{hour:{settings.HOUR_FORMAT}}"


def metadata(instance: dg.DagsterInstance, hour: Any) -> dict[str, Any]:
    """Of the newest materialization of an hour."""
    wanted = dg.AssetRecordsFilter(KEY, asset_partitions=[named(hour)])
    (record,) = instance.fetch_materializations(wanted, limit=1).records
    made = record.asset_materialization
    return {name: value.value for name, value in made.metadata.items()} if made else {}


def materialize(
    instance: dg.DagsterInstance, orders: Orders, **how: Any
) -> dg.ExecuteInProcessResult:
    made = asset.to_assets({"": replace(orders.table, group="storefront")})
    return dg.materialize(made, resources={"lake": LakeResource()}, instance=instance, **how)


def test_by_hand_an_hour_or_a_range_is_written_told_of_and_checked(
    lake: Lake, orders: Orders, instance: dg.DagsterInstance
) -> None:
    orders.arrive(lake, orders.change(1), orders.change(2), at=EARLIER)
    orders.arrive(lake, orders.change(3), at=now())
    latest = hour_of(now())
    run = materialize(instance, orders, partition_key=named(EARLIER))
    (checked,) = run.get_asset_check_evaluations()
    assert checked.passed and checked.metadata["records"].value == 2
    (file,) = orders.folder.glob("*/*")
    told = metadata(instance, EARLIER)
    assert (told["rows"], told["bytes"], told["path"]) == (2, file.stat().st_size, str(file))
    span = {"dagster/asset_partition_range_start": named(EARLIER),
            "dagster/asset_partition_range_end": named(latest)}  # fmt: skip
    file.write_bytes(b"")
    assert materialize(instance, orders, tags=span).success
    assert metadata(instance, EARLIER)["rows"] == 2 and metadata(instance, latest)["rows"] == 1
    assert orders.ids() == [1, 2, 3]


def test_by_news_every_hour_that_is_behind_is_written_and_told_of_under_its_own_partition(
    lake: Lake, orders: Orders, instance: dg.DagsterInstance
) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    orders.arrive(lake, orders.change(2), at=now())
    latest = named(hour_of(now()))
    materialize(instance, orders, partition_key=latest, tags={NEWS: "true"})
    assert orders.ids() == [1, 2] and metadata(instance, EARLIER)["rows added"] == 1
    materialize(instance, orders, partition_key=latest, tags={NEWS: "true"})
    told = metadata(instance, hour_of(now()))
    assert (told["rows"], told["rows added"], told["hours written"]) == (1, 0, 0)


def test_the_sensors_run_brings_it_up_with_the_raw_table_and_by_itself_when_it_stayed_behind(
    lake: Lake,
    orders: Orders,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = {"raw.storefront_orders": replace(orders.table, group="storefront")}
    (source,) = sources(mine, *asset.beside(mine))

    def asked() -> list[str]:
        answer = tick(instance, source)
        keys = answer.asset_selection or [] if isinstance(answer, dg.RunRequest) else []
        return ["/".join(key.path) for key in keys]

    both = ["raw/storefront_orders", "landing/storefront_orders"]
    assert asked() == []
    orders.send(orders.change(1))
    answer = tick(instance, source)
    assert isinstance(answer, dg.RunRequest) and asked() == both
    made = [*asset.to_assets(mine), to_asset(next(iter(mine.values())), [], mine)]
    run = dg.materialize(
        made, resources={"lake": LakeResource()}, instance=instance, tags=answer.tags,
        partition_key=answer.partition_key, selection=answer.asset_selection,
    )  # fmt: skip
    assert run.success and orders.ids() == [1] and asked() == []
    orders.send(orders.change(2))
    assert asked() == both[:1], "a busy source's files follow once a minute"
    orders.arrive(lake)
    assert asked() == []
    monkeypatch.setattr(asset, "EVERY_S", 0)
    assert asked() == both[1:]
    land(lake, orders.table)
    assert asked() == []
    orders.send(orders.change(3))
    assert asked() == both


def test_a_place_that_cannot_be_reached_stops_no_tick(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    head = lake.catalog.head(orders.table.name)
    assert asset.is_due(orders.table, head, comes=False)
    monkeypatch.setenv("LAKEHOUSE_LANDING", f"{settings.ROOT}/README.md/landing")
    assert asset.is_due(orders.table, head, comes=True)
    assert isinstance(asset.is_due(orders.table, head, comes=False), bool)


def test_a_tick_that_finds_nothing_to_do_is_cheap(lake: Lake, orders: Orders) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    land(lake, orders.table)
    head, begin = lake.catalog.head(orders.table.name), time.perf_counter()
    assert not any(asset.is_due(orders.table, head, comes=True) for _ in range(8))
    print(f"eight tables are looked at in {time.perf_counter() - begin:.3f} s")


def test_each_table_of_the_shop_has_its_files_beside_it() -> None:
    raw = {name.split(".")[1] for name in tables() if name.startswith("raw.storefront_")}
    found = {key.path[1] for made in asset.to_assets(tables()) for key in made.keys}
    assert found == raw and len(found) == 8
