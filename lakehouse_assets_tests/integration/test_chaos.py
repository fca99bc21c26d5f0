"""Seeded kills of runs, clients and servers: every table still equals the truth."""

import json
from typing import Any

import pytest

from lakehouse_assets import chaos
from lakehouse_assets.chaos._captured import Captured
from lakehouse_assets.chaos._plan import (
    CLIENT,
    CONNECT,
    KAFKA,
    POINTS,
    POSTGRES,
    READING,
    REGISTRY,
    RUN,
    SPARK,
    Step,
    plan,
)
from lakehouse_assets.lake import waypoint

TABLES = ("raw.a", "staging.b", "marts.c")
GOOD: dict[str, Any] = {
    "kills": 20, "has_settled": True, **dict.fromkeys(chaos.NONE, 0),
    **dict.fromkeys((*chaos.COMPANY, "neighbour_commits"), 1),
    "by_fault": dict.fromkeys((RUN, CLIENT, SPARK, KAFKA), 5), "by_point": dict.fromkeys(POINTS, 2),
}  # fmt: skip


def test_five_kills_lose_double_and_change_nothing() -> None:
    result = chaos.run(kills=5, seed=7, only="marts.merchant_revenue_daily")
    assert (result["kills"], result["seed"], result["has_settled"]) == (5, 7, True)
    wanted = dict.fromkeys(chaos.NONE, 0)
    assert {name: result[name] for name in wanted} == wanted
    stored = sum(rows for name, rows in result["rows"].items() if name.startswith("raw."))
    assert stored == result["records"] == result["sent"] > 0
    assert sum(result["by_fault"].values()) == 5
    assert sum(result["by_point"].values()) == result["by_fault"][RUN] == 3
    assert result["doubled"] > 0 and result["neighbour_commits"] > 0


def test_under_the_shop_kills_of_postgres_and_a_run_lose_nothing_and_revive_nothing() -> None:
    result = chaos.run(kills=2, seed=12, only="semantic.storefront_orders", source="storefront")
    assert (result["by_fault"][POSTGRES], result["by_fault"][RUN]) == (1, 1)
    wanted = dict.fromkeys((*chaos.NONE, chaos.RESURRECTED), 0)
    assert {name: result[name] for name in wanted} == wanted
    assert result["has_settled"] and result["kills_under_traffic"] == 2
    assert result["rows"]["kafka.storefront"] == result["sent"] > 0
    assert result["rows"]["raw.storefront_orders"] == result["records"]
    assert result["rows"]["semantic.storefront_orders"] == result["rows"]["postgres.orders"] > 0


def test_under_lineage_events_the_log_has_every_file_and_whose_rows_are_in_it() -> None:
    result = chaos.run(kills=3, seed=7, only="raw.lineage_events", source="lineage")
    wanted = dict.fromkeys(chaos.NONE, 0)
    assert {name: result[name] for name in wanted} == wanted and result["has_settled"]
    assert result["rows"]["raw.lineage_events"] == result["records"] == result["sent"] > 0
    assert result["rows"]["write-ahead-commit-log of raw.lineage_events"] > 0


def test_the_same_seed_is_the_same_plan() -> None:
    assert plan(20, 7, TABLES) == plan(20, 7, TABLES) != plan(20, 8, TABLES)


def test_twenty_kills_hit_runs_clients_and_both_servers_with_and_without_company() -> None:
    steps = plan(20, 7, TABLES)
    faults = [s.fault for s in steps]
    assert {f: faults.count(f) for f in (RUN, CLIENT, SPARK, KAFKA)} == {
        RUN: 12, CLIENT: 4, SPARK: 2, KAFKA: 2,
    }  # fmt: skip
    assert any(s.is_doubled for s in steps) and any(s.is_compacted for s in steps)


@pytest.mark.parametrize("seed", range(5))
def test_twenty_kills_hit_every_point(seed: int) -> None:
    points = [s.point for s in plan(20, seed, TABLES) if s.fault == RUN]
    assert {point: points.count(point) for point in POINTS} == dict.fromkeys(POINTS, 2)


def test_every_point_of_every_table_comes_up() -> None:
    marks = [s.mark for s in plan(30, 7, TABLES) if s.fault == RUN]
    assert {f"{point}@{table}" for point in POINTS for table in TABLES} == set(marks)
    assert len(marks) == len(set(marks))


def test_the_broker_is_killed_while_a_raw_table_reads_it() -> None:
    marks = {s.mark for s in plan(90, 7, TABLES) if s.fault == KAFKA}
    assert marks == {f"{point}@raw.a" for point in READING}


def test_a_client_is_killed_while_it_writes() -> None:
    assert {s.point for s in plan(90, 7, TABLES) if s.fault == CLIENT} == {"branch"}


def test_under_the_shop_every_server_is_killed_and_every_point_hit() -> None:
    steps = plan(20, 7, TABLES, Captured.servers, Captured.hand)
    faults = [s.fault for s in steps]
    assert (faults.count(RUN), faults.count(CLIENT)) == (8, 4)
    assert all(faults.count(f) for f in (SPARK, KAFKA, CONNECT, POSTGRES, REGISTRY))
    assert {s.point for s in steps if s.fault == RUN} == set(POINTS)
    assert {s.mark.split("@")[1] for s in steps if s.fault == REGISTRY} == {"raw.a"}


def test_after_a_miss_the_kill_comes_sooner_and_nobody_runs_beside() -> None:
    step = Step(1, KAFKA, "read@raw.a", 0.6, 150, is_doubled=True, is_compacted=True).again()
    assert (step.delay_s, step.is_doubled, step.is_compacted) == (0.2, False, True)


def test_the_points_are_the_engines() -> None:
    assert POINTS == waypoint.POINTS


def test_chaos_that_left_out_what_it_lists_has_failed() -> None:
    assert chaos.complaints(GOOD, 20) == []
    by_point = GOOD["by_point"] | {"judge": 0}
    short = GOOD | {"compactions": 0, "by_point": by_point}
    assert chaos.complaints(short, 20) == ["never happened: runs killed at 'judge', compactions"]
    assert chaos.complaints(short, 5) == []  # too few kills for everything


def test_chaos_that_lost_or_missed_something_has_failed() -> None:
    bad = GOOD | {"lost": 2, "kills": 19}
    assert chaos.complaints(bad, 20) == ["lost: 2", "only 19 of 20 kills hit"]


def test_a_row_that_was_deleted_and_is_still_there_is_a_failure() -> None:
    assert chaos.complaints(GOOD | {"resurrected": 1}, 20) == ["resurrected: 1"]
    assert chaos.complaints(GOOD | {"resurrected": 0}, 20) == []


def test_a_shop_that_stood_still_at_every_kill_is_a_failure() -> None:
    assert chaos.complaints(GOOD | {"kills_under_traffic": 1}, 20) == []
    assert chaos.complaints(GOOD | {"kills_under_traffic": 0}, 20) == [
        "never happened: kills_under_traffic"
    ]


def test_a_failure_tells_its_figures_on_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    chaos.Failed(["lost: 2"], GOOD | {"lost": 2}).show()
    said = capsys.readouterr()
    assert json.loads(said.out.splitlines()[-1])["lost"] == 2
    assert "lost: 2" in said.err
