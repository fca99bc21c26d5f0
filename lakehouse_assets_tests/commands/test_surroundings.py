"""The commands on a machine that is not as ours: proxies, other people's programs, full disks."""

from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets_tests.support import last_line, said


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
