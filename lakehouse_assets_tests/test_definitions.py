"""What Dagster is given, through the commands and files by which people and machines load it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import tomlkit
import yaml
from dagster._core.instance.config import dagster_instance_config

from lakehouse_assets import settings
from lakehouse_assets.definitions import defs, tables
from lakehouse_assets.landing.asset import left_of
from lakehouse_assets.orchestration.asset import to_assets
from lakehouse_assets.orchestration.runs import SOURCE
from lakehouse_assets.origin.asset import DATABASE
from lakehouse_assets.serving.weather import OURS
from lakehouse_assets_tests.support import lake_in

ROOT = settings.ROOT


def dagster(*args: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "DAGSTER_HOME"}
    if home is not None:
        env["DAGSTER_HOME"] = str(home)
    command = [sys.executable, "-W", "ignore", "-m", "dagster", *args]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def lake_home(tmp_path: Path) -> Iterator[Path]:
    with lake_in(tmp_path / "a lake") as folder:
        yield folder


def around() -> set[str]:
    """The database that is captured, and what is left of tables for others."""
    left = {f"landing.{t.name.split('.')[1]}" for t in left_of(tables())}
    return {".".join(DATABASE.path), OURS, *left}


def test_every_table_is_an_asset_and_every_asset_a_table_or_before_or_after_one() -> None:
    keys = {".".join(k.path) for k in defs.resolve_asset_graph().get_all_asset_keys()}
    topics = {f"kafka.{t.topic}" for t in tables().values() if t.topic}
    assert keys == set(tables()) | topics | around()


def test_what_is_told_of_raw_records_beside_the_marts_comes_after_them() -> None:
    later = {
        ".".join(asset.key.path)
        for asset in to_assets(tables())
        if int(asset.op.tags["dagster/priority"]) < 0
    }
    assert "analytics.payment_quality_hourly" in later
    assert not [name for name in later if name.split(".")[0] not in ("analytics", "metadata")]


def test_every_check_has_an_asset_and_all_but_the_topics_check() -> None:
    checks = defs.resolve_asset_graph().asset_check_keys
    assert {".".join(c.asset_key.path) for c in checks} == set(tables()) | around()


def test_what_must_run_by_itself_runs_from_the_first_start() -> None:
    repository = defs.get_repository_def()
    sensors = {s.name: s.default_status for s in repository.sensor_defs}
    sources = {"payments_news", "webhooks_news", "storefront_news", "weather_news", "lineage_news"}
    assert set(sensors) == sources | {"storefront_capture", "old_runs", "failed_runs"}
    assert set(sensors.values()) == {dg.DefaultSensorStatus.RUNNING}
    (schedule,) = repository.schedule_defs
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING


def test_the_daily_job_executes_every_check_and_writes_nothing() -> None:
    job = defs.resolve_job_def("data_quality")
    assert job.asset_layer.selected_asset_keys == set()
    assert job.asset_layer.asset_graph.asset_check_keys >= set(
        defs.resolve_asset_graph().asset_check_keys
    )
    assert job.tags[SOURCE] == "data_quality"


def test_the_daily_job_needs_no_partition_and_no_data(lake_home: Path) -> None:
    (schedule,) = defs.get_repository_def().schedule_defs
    with dg.DagsterInstance.ephemeral() as instance:
        (request,) = schedule.evaluate_tick(dg.build_schedule_context(instance)).run_requests
        assert request.partition_key is None
        assert defs.resolve_job_def("data_quality").execute_in_process(instance=instance).success


def test_workspace_and_project_name_the_same_location() -> None:
    (entry,) = yaml.safe_load((ROOT / "workspace.yaml").read_text())["load_from"]
    project = tomlkit.parse((ROOT / "pyproject.toml").read_text())["tool"]["dg"]["project"]
    assert entry["python_module"] == {
        "module_name": project["code_location_target_module"],
        "location_name": project["code_location_name"],
    }


def test_the_instance_is_as_dagster_wants_it() -> None:
    config, _ = dagster_instance_config(str(ROOT))
    limits = config["concurrency"]["runs"]
    assert limits["max_concurrent_runs"] == 2
    assert [limit["key"] for limit in limits["tag_concurrency_limits"]] == [SOURCE]
    assert config["run_monitoring"]["free_slots_after_run_end_seconds"] > 0


def test_definitions_load_with_and_without_a_dagster_home(lake_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "dagster home"
    home.mkdir()
    (home / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
    for chosen in (None, home):
        done = dagster("definitions", "validate", home=chosen)
        assert done.returncode == 0, done.stderr
        assert "Validation successful for code location lakehouse_assets." in done.stdout
    assert not list(lake_home.glob("spark*")), "loading must not start anything"


def test_loading_definitions_opens_no_spark() -> None:
    program = "import sys, lakehouse_assets.definitions; print(*sys.modules)"
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    for heavy in ("pandas", "grpc", "pyspark.sql.connect.session", "pandera"):
        assert heavy not in loaded
    print(f"definitions load in {time.monotonic() - begin:.1f} s")


def test_definitions_are_short() -> None:
    text = (ROOT / "lakehouse_assets" / "definitions.py").read_text()
    assert len(text.splitlines()) <= 40


def test_an_unknown_table_is_refused_by_the_command_line(lake_home: Path) -> None:
    select = ["--select", "raw/payment_charge", "--partition", "2020-01-01-00:00"]
    done = dagster("asset", "materialize", "-m", "lakehouse_assets.definitions", *select)
    assert done.returncode != 0
    assert "payment_charge" in done.stderr + done.stdout
