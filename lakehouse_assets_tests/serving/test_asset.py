"""PostgreSQL's `weather` as Dagster shows it: by hand, in the run of the sensor, checked."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest

from lakehouse_assets.definitions import defs, tables
from lakehouse_assets.orchestration.names import NEWS
from lakehouse_assets.orchestration.resource import LakeResource
from lakehouse_assets.orchestration.sensors import look, sources, tick
from lakehouse_assets.serving import asset
from lakehouse_assets.serving.weather import bring
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets_tests.serving.sky import READINGS, Sky
from lakehouse_assets_tests.support import fresh_topic


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def materialize(instance: dg.DagsterInstance, **how: Any) -> dg.ExecuteInProcessResult:
    return dg.materialize(
        [asset.to_asset()], resources={"lake": LakeResource()}, instance=instance, **how
    )


def told(run: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (made,) = run.asset_materializations_for_node("postgres__weather")
    return {name: value.value for name, value in made.metadata.items()}


def test_by_hand_everything_is_compared_and_by_news_what_is_new(
    sky: Sky, instance: dg.DagsterInstance
) -> None:
    sky.read((0, 1.0), (1, 2.0))
    run = materialize(instance)
    assert told(run)["rows written"] == 2 and told(run)["everything compared"] is True
    (checked,) = run.get_asset_check_evaluations()
    assert checked.passed and checked.metadata["rows"].value == 2
    sky.read((2, 3.0))
    news = told(materialize(instance, tags={NEWS: "true"}))
    assert (news["rows written"], news["everything compared"]) == (1, False)


def test_a_red_check_tells_what_differs_and_what_to_do(
    sky: Sky, instance: dg.DagsterInstance
) -> None:
    sky.read((0, 1.0))
    bring(sky.lake.catalog)
    sky.do("update weather set avg_temperature = 7")
    only = dg.AssetSelection.checks(dg.AssetCheckKey(asset.KEY, asset.EQUALS))
    (checked,) = materialize(instance, selection=only).get_asset_check_evaluations()
    assert not checked.passed and "by hand" in str(checked.metadata["next step"].value)
    assert "2026-01-08 12:00 Boston" in str(checked.metadata["differences"].value)


def test_it_rides_in_the_sources_runs_and_follows_alone_when_it_stayed_behind(
    sky: Sky, instance: dg.DagsterInstance
) -> None:
    fresh_topic(TOPIC)
    (source,) = [s for s in sources(tables(), *asset.beside()) if s.group == "weather"]
    sky.read((0, 1.0))
    sky.lake.catalog.ensure(tables()["raw.weather"].contract)
    sky.lake.catalog.ensure(READINGS.contract)
    found = look(source)
    assert asset.KEY in found.beside
    names = [t.name for t in found.tables]
    assert "marts.weather_cities_daily" in names and "raw.weather" not in names
    bring(sky.lake.catalog)
    assert not look(source).beside
    sky.read((1, 1.0))
    (alone,) = [s for s in sources({n: t for n, t in tables().items()
                                    if n in ("raw.weather", READINGS.name, asset.TABLE)},
                                   *asset.beside()) if s.group == "weather"]  # fmt: skip
    answer = tick(instance, alone)
    assert isinstance(answer, dg.RunRequest) and answer.asset_selection == [asset.KEY]
    assert answer.partition_key is None, "it has none"
    job = defs.resolve_implicit_global_asset_job_def()
    run = job.get_subset(asset_selection={asset.KEY}).execute_in_process(
        instance=instance, tags=answer.tags
    )
    assert run.success and not look(alone).beside


def test_a_database_that_cannot_be_reached_stops_no_tick(
    sky: Sky, monkeypatch: pytest.MonkeyPatch
) -> None:
    sky.read((0, 1.0))
    head = sky.lake.catalog.head(asset.TABLE)
    assert asset.is_due(head, comes=False)
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://a:b@127.0.0.1:1/c")
    assert not asset.is_due(head, comes=False) and asset.is_due(head, comes=True)
