"""Histories have no gap, no overlap and one open version per key, however versions come."""

from datetime import datetime, timedelta, timezone
from itertools import groupby, pairwise
from random import Random

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.semantic.spans import spliced
from lakehouse_assets_tests.lake.tables import Row

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)

Version = tuple[str, datetime, str]


def history(lake: Lake, versions: list[Version]) -> list[Row]:
    frame = lake.spark.createDataFrame(versions, "id string, at timestamp, event_id string")
    found = spliced(frame, "id", at="at", tie="event_id").orderBy("id", "valid_from_at")
    return fetched(found).to_pylist()  # type: ignore[no-any-return]


def test_any_order_of_many_versions_gives_one_history_without_gap_or_overlap(lake: Lake) -> None:
    draw = Random(4)
    versions = [(draw.choice("abc"), AT + draw.randrange(40) * MINUTE, f"e{n}") for n in range(90)]
    found = history(lake, versions)
    draw.shuffle(versions)
    assert history(lake, versions) == found
    assert {(r["id"], r["valid_from_at"]) for r in found} == {v[:2] for v in versions}
    for _, life in groupby(found, key=lambda row: row["id"]):
        *closed, last = life
        for one, following in pairwise([*closed, last]):
            assert one["valid_to_at"] == following["valid_from_at"] > one["valid_from_at"]
        assert last["valid_to_at"] is None
        assert [row["is_current"] for row in (*closed, last)] == [False] * len(closed) + [True]


def test_of_versions_of_one_instant_the_greatest_tie_stands(lake: Lake) -> None:
    tied = [("a", AT, "e2"), ("a", AT, "e10"), ("a", AT, "E3")]
    for versions in (tied, tied[::-1]):
        found = history(lake, [*versions, ("a", AT + MINUTE, "e1")])
        assert [(r["event_id"], r["valid_to_at"]) for r in found] == [
            ("e2", AT + MINUTE), ("e1", None),
        ]  # fmt: skip
