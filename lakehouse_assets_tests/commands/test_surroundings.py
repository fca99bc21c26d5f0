"""The commands on a machine that is not as ours: proxies, other people's programs, full disks."""

from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets_tests.support import last_line, refused, said


@pytest.mark.parametrize("before", ["", "intranet", "127.0.0.1,intranet", "*"])
def test_what_runs_here_is_never_behind_a_proxy(before: str) -> None:
    env = settings.reaching_ourselves({"NO_PROXY": before})
    assert env["no_proxy"] == env["NO_PROXY"]
    assert env["no_proxy"] == before == "*" or {"localhost", "127.0.0.1"} <= set(
        env["no_proxy"].split(",")
    )
    assert not before or set(before.split(",")) <= set(env["no_proxy"].split(","))


def test_spark_is_reached_though_a_proxy_is_set(
    stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    assert last_line(said("query", "select 1 as n", "--json"))["rows"] == [{"n": 1}]


def test_events_go_to_a_kafka_of_somebody_else_only_if_it_is_named(
    stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = settings.kafka_bootstrap()
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))  # another lake, the same port
    told = refused("generate", "payments", "--count", "1", "--rate", "0")
    assert f"{place} is not this lake's" in told and f"LAKEHOUSE_KAFKA={place}" in told
    assert last_line(said("status", "--json"))["services"]["kafka"]["state"] == "foreign"
    monkeypatch.setenv("LAKEHOUSE_KAFKA", place)
    said("generate", "payments", "--count", "1", "--rate", "0")
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:9")
    assert "LAKEHOUSE_KAFKA=127.0.0.1:9" in refused("generate", "payments", "--count", "1")
