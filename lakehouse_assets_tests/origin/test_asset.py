"""The watch over the capture: it tells what is news, by check, and starts no run."""

from collections.abc import Iterator

import dagster as dg
import pytest

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.origin import asset
from lakehouse_assets.origin.asset import DATABASE, LOOKS

TABLE = tables()["raw.storefront_orders"]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def told(instance: dg.DagsterInstance) -> dict[str, bool]:
    """What a tick tells, as the daemon takes it."""
    result = asset.look(instance, TABLE)
    assert isinstance(result, dg.SensorResult) and not result.run_requests
    news: dict[str, bool] = {}
    for event in result.asset_events:
        assert isinstance(event, dg.AssetCheckEvaluation)
        instance.report_runless_asset_event(event)
        news[event.check_name] = event.passed
    return news


def test_without_a_captured_table_nothing_is_looked_at(
    lake: Lake, instance: dg.DagsterInstance
) -> None:
    assert isinstance(asset.look(instance, TABLE), dg.SkipReason)


def test_a_verdict_is_told_when_it_is_another_one_and_again_after_a_while(
    lake: Lake, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.catalog.ensure(TABLE.contract)
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://me:word@127.0.0.1:1")
    names = [look.name for look in LOOKS]
    assert told(instance) == dict.fromkeys(names, False)
    key = dg.AssetCheckKey(DATABASE, names[0])
    (record,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=5)
    assert record.evaluation and "lakehouse up storefront" in str(record.evaluation.metadata)
    assert told(instance) == {}, "it is told already"
    with monkeypatch.context() as patch:
        patch.setattr("lakehouse_assets.origin.looks.slot", lambda *_: None)
        assert told(instance) == {"log_is_let_go": True}
    assert told(instance) == {"log_is_let_go": False}
    monkeypatch.setattr(asset, "TELL_S", 0)
    assert told(instance) == dict.fromkeys(names, False)
