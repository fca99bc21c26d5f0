"""`lakehouse demo` and `lakehouse up` with the whole stack: what they promise, what they leave."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands import dagster_api
from lakehouse_assets.sources.lineage import truth as of_lineage
from lakehouse_assets.sources.payments import TOPICS, truth
from lakehouse_assets.sources.storefront import truth as of_shop
from lakehouse_assets.sources.weather import truth as of_weather
from lakehouse_assets.sources.webhooks import truth as of_webhooks
from lakehouse_assets_tests.support import lake_in, last_line, said

EVENTS = 400
DEMO_S = 1_500  # a few minutes on an idle machine, far more beside other tests
TABLES = {
    *truth.KEYS, *of_webhooks.KEYS, *of_shop.KEYS, *of_weather.KEYS, *of_lineage.KEYS,
    "metadata.check_history",
}  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A lake and a stack of its own; whatever a failing test leaves is stopped."""
    with lake_in(tmp_path / "a lake") as folder:
        try:
            yield folder
        finally:
            said("down")


def start(*args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "lakehouse_assets.cli", *args],
        env=dict(os.environ, PYTHONPATH=str(settings.ROOT)), cwd="/", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # As from a terminal: a shell makes what it starts in the background deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def states() -> dict[str, str]:
    services = last_line(said("status", "--json"))["services"]
    return {name: service["state"] for name, service in services.items()}


def test_the_demo_ends_in_tables_equal_to_the_truth_and_leaves_what_ran_before(own: Path) -> None:
    assert "kafka started" in said("up", "kafka")  # a service alone: starts it and returns
    demo = start("demo", "--events", str(EVENTS), "--json")
    out, err = demo.communicate(timeout=DEMO_S)
    assert demo.returncode == 0, out + err
    told = json.loads(out.strip().splitlines()[-1])
    assert told["seconds"] > 0
    assert sum(told["tables"][name] for name in truth.RAW.values()) == EVENTS
    assert set(told["equal"].values()) == {True}
    topics = {f"kafka.{topic}" for topic in (*TOPICS, *of_lineage.RAW, "shopify.orders", "weather")}
    shop = {f"postgres.{name}" for name in (*of_shop.CURRENT, "weather")}
    assert told["equal"].keys() >= topics | TABLES | shop
    assert told["tables"]["marts.customer_360"] > 0
    assert told["checks"]["passed"] > 30 and told["checks"]["failed"] == 0
    assert told["checks"]["warned"] > 0  # the feed is dirty on purpose
    assert told["quarantined"] >= 8  # of every kind at least one
    assert "every table equals the generator's truth" in " ".join(err.lower().split())
    running = {name for name, state in states().items() if state == "running"}
    assert running == {"kafka"}


def evaluated(name: str, success: bool, severity: str) -> dict[str, Any]:
    key = {"path": ["raw", "t"]}
    said = {"success": success, "severity": severity, "checkName": name, "assetKey": key}
    return {"evaluation": said}


def test_a_check_that_the_run_left_out_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("fine", "dirty", "broken", "left_out")
    known = [{"name": name, "assetKey": {"path": ["raw", "t"]}} for name in names]
    pages = {
        None: ("1", True, [evaluated("fine", True, "ERROR"), {}]),
        "1": ("2", False, [evaluated("dirty", False, "WARN"), evaluated("broken", False, "ERROR")]),
    }

    def ask(query: str, **variables: Any) -> dict[str, Any]:
        if query == dagster_api.CHECKS:
            return {"assetNodes": [{"assetChecksOrError": {"checks": known}}]}
        cursor, more, events = pages[variables["after"]]
        page = {"cursor": cursor, "hasMore": more, "events": events}
        return {"runOrError": {"eventConnection": page}}

    monkeypatch.setattr(dagster_api, "ask", ask)
    assert dagster_api.verdicts("run") == {
        "raw.t: fine": "passed", "raw.t: dirty": "warned", "raw.t: broken": "failed",
        "raw.t: left_out": "failed",
    }  # fmt: skip


def test_an_interrupted_start_leaves_nothing_of_its_own_behind(own: Path) -> None:
    live = start("up", "payments", "--no-generate")
    assert live.stdout is not None
    wait_for(live.stdout, "started in")
    live.send_signal(signal.SIGINT)
    out, err = live.communicate(timeout=DEMO_S)
    assert live.returncode == 0, out + err
    assert set(states().values()) == {"stopped"}


def wait_for(lines: IO[str], text: str) -> None:
    for line in lines:
        if text in line:
            return
    raise AssertionError(f"the process ended without saying {text!r}")
