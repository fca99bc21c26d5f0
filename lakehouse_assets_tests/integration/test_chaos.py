"""Five seeded kills of runs, clients and servers: every table still equals the truth."""

from lakehouse_assets import chaos
from lakehouse_assets.chaos._oracle import compare
from lakehouse_assets.chaos._plan import CLIENT, KAFKA, POINTS, RUN, SPARK, plan
from lakehouse_assets.lake import waypoint

TABLES = ("raw.a", "staging.b", "marts.c")


def test_five_kills_lose_double_and_change_nothing() -> None:
    result = chaos.run(kills=5, seed=7)
    assert (result["kills"], result["seed"], result["has_settled"]) == (5, 7, True)
    wanted = {"lost": 0, "duplicated": 0, "wrong": 0, "orphaned_branches": 0, "hung_runs": 0}
    assert {name: result[name] for name in wanted} == wanted
    assert result["rows"]["raw.payment_charges"] == result["records"] > 0


def test_the_same_seed_is_the_same_plan() -> None:
    assert plan(20, 7, TABLES) == plan(20, 7, TABLES) != plan(20, 8, TABLES)


def test_twenty_kills_hit_runs_clients_and_both_servers_with_and_without_company() -> None:
    steps = plan(20, 7, TABLES)
    faults = [s.fault for s in steps]
    assert {f: faults.count(f) for f in (RUN, CLIENT, SPARK, KAFKA)} == {
        RUN: 12, CLIENT: 4, SPARK: 2, KAFKA: 2,
    }  # fmt: skip
    assert any(s.is_doubled for s in steps) and any(s.is_compacted for s in steps)


def test_every_point_of_every_table_comes_up() -> None:
    marks = {s.mark for s in plan(90, 7, TABLES) if s.fault == RUN}
    assert {f"{point}@{table}" for point in POINTS for table in TABLES} == marks


def test_the_points_are_the_engines() -> None:
    assert POINTS == waypoint.POINTS


def test_the_comparison_sees_what_is_lost_doubled_wrong_and_made_up() -> None:
    want = [{"id": n, "value": n} for n in range(5)]
    have = [
        {"id": 1, "value": 1}, {"id": 1, "value": 1}, {"id": 2, "value": 9},
        {"id": 3, "value": 3}, {"id": 4, "value": 4}, {"id": 7, "value": 7},
    ]  # fmt: skip
    found = compare("t", ("id",), have, want)
    assert (found.lost, found.duplicated, found.wrong) == (1, 1, 2)
    assert not found.is_equal
    assert found.examples[0] == "lost (0,)"
