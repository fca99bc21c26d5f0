from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.metadata.check_history import history

TALLY = {
    "commit": 3, "hour": "2026-05-04T12:00:00", "at": "2026-05-04T12:01:00+00:00",
    "judged": 10, "failed": {"a": 0, "b": 4}, "broken": "b",
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
