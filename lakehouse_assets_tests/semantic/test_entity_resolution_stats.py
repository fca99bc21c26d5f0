"""semantic.entity_resolution_stats: what each run of the resolution did."""

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.blocking_index import blocking_index
from lakehouse_assets.semantic.entity_resolution_stats import entity_resolution_stats
from lakehouse_assets.semantic.matching import CAPS
from lakehouse_assets_tests.semantic.people import STRIPE, entities, known, tell
from lakehouse_assets_tests.support import stored

FAMILY = [known(f"f{n}", None, "2125550199") for n in range(CAPS["phone"] + 1)]


def run(lake: Lake) -> dict[str, object]:
    entities(lake)
    advance(lake, blocking_index)
    advance(lake, entity_resolution_stats)
    newest: dict[str, object] = max(
        stored(entity_resolution_stats.name), key=lambda row: row["run_number"]
    )
    assert newest.pop("seconds") is not None
    assert newest.pop("at") is not None
    return newest


def test_a_run_tells_what_was_new_compared_matched_and_merged(lake: Lake) -> None:
    tell(lake, STRIPE, known("1", "a@x.org"), known("2", "a@x.org"), known("3", None, "2125550100"),
         *FAMILY)  # fmt: skip
    assert run(lake) == {
        "run_number": 1, "records": 8, "new": 8, "changed": 0, "blocks": 3, "comparisons": 1,
        "matches_by_email": 1, "matches_by_phone": 0, "merges": 0, "splits": 0,
        "capped_blocks": 1,
    }  # fmt: skip
    tell(lake, STRIPE, known("4", "a@x.org", "2125550100"))
    assert run(lake) == {
        "run_number": 2, "records": 9, "new": 1, "changed": 1, "blocks": 2, "comparisons": 4,
        "matches_by_email": 2, "matches_by_phone": 1, "merges": 1, "splits": 0,
        "capped_blocks": 0,
    }  # fmt: skip


def test_nothing_new_is_no_run(lake: Lake) -> None:
    tell(lake, STRIPE, known("1"))
    run(lake)
    entities(lake)
    assert not advance(lake, entity_resolution_stats).published
