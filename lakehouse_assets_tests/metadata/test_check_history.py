import json

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake import judge
from lakehouse_assets.lake.advance import BATCHES
from lakehouse_assets.lake.catalog import COMPACT, TALLIES_KEPT
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.publish import Change
from lakehouse_assets.metadata.check_history import history
from lakehouse_assets.orchestration.sensors import UNTOLD

TALLY = {
    "commit": 3, "hour": "2026-05-04T12:00:00", "at": "2026-05-04T12:01:00+00:00",
    "judged": 10, "failed": {"a": 0, "b": 4}, "broken": [1],
}  # fmt: skip
HEADS = {"raw.t": Head("raw.t", 1, Stamp(3, 1, {}), 10, 0, [TALLY, {**TALLY, "commit": 2}])}


def test_each_rule_of_a_new_commit_is_one_row_with_its_verdict() -> None:
    told = history(HEADS, {"raw.t": 2})
    assert [(r["check"], r["commit"], r["failed"], r["rows"], r["verdict"]) for r in told] == [
        ("a", 3, 0, 10, "passed"),
        ("b", 3, 4, 10, "failed"),
    ]


def test_a_commit_that_was_told_is_not_told_again() -> None:
    assert history(HEADS, {"raw.t": 3}) == []
    assert len(history(HEADS, {})) == 4


def test_tallies_outlast_what_is_left_untold_and_two_full_runs() -> None:
    assert UNTOLD + 2 * BATCHES <= TALLIES_KEPT


def test_what_is_kept_of_a_commit_is_small() -> None:
    heaviest = 0
    for name, table in tables().items():
        stamp = Stamp(12_345, 1, {}, hour="2026-05-04T12:00:00")
        change = Change(None, "append", stamp)  # type: ignore[arg-type]
        counted = {"stored": 10**7} | {r.name: 10**5 for r in table.contract.all_rules()}
        tally = judge.tally(table.contract, Head(name, 1, stamp, 0, 0), change, counted)
        heaviest = max(heaviest, len(json.dumps(tally, separators=COMPACT)))
    print(f"the heaviest tally: {heaviest} B; {TALLIES_KEPT} of them: {TALLIES_KEPT * heaviest} B")
    assert heaviest < 1_500
