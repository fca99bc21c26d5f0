"""semantic.entity_changes: what became of entities that lost records."""

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.entity_changes import entity_changes, moved
from lakehouse_assets.semantic.entity_index import EntityIndex
from lakehouse_assets_tests.semantic.people import STRIPE, entities, known, tell
from lakehouse_assets_tests.support import rows, stored


def test_a_record_that_joins_two_people_is_told_once(lake: Lake) -> None:
    tell(lake, STRIPE, known("1", "a@x.org"), known("2", "a@x.org"), known("3", None, "2125550100"))
    before = entities(lake)
    advance(lake, entity_changes)
    tell(lake, STRIPE, known("4", "a@x.org", "2125550100"))
    after = entities(lake)
    assert set(after.values()) == {before["stripe/1"]}
    advance(lake, entity_changes)
    assert not advance(lake, entity_changes).published
    (row,) = stored(entity_changes.name)
    assert row.pop("at") is not None
    assert row == {
        "entity_id": before["stripe/3"], "became": before["stripe/1"], "reason": "merged",
        "records": 1,
    }  # fmt: skip


def told(lake: Lake, before: dict[str, str], after: dict[str, str]) -> set[tuple[object, ...]]:
    def frame(named: dict[str, str]) -> object:
        return rows(lake.spark, EntityIndex, *[
            {"source": "stripe", "source_id": record, "entity_id": entity}
            for record, entity in named.items()
        ])  # fmt: skip

    changed = {r: e for r, e in after.items() if before.get(r) != e}
    gone = {r: e for r, e in before.items() if after.get(r) != e}
    found = moved(frame(after), frame(changed), frame(gone)).collect()  # type: ignore[arg-type]
    return {(r["entity_id"], r["became"], r["reason"], r["records"]) for r in found}


def test_what_falls_apart_what_is_gone_and_what_only_lost_a_record(lake: Lake) -> None:
    before = {"1": "A", "2": "A", "3": "A", "4": "B", "5": "C", "6": "C", "7": "D", "8": "D"}
    after = {"1": "A", "2": "A", "3": "N", "5": "C", "7": "E", "8": "F", "9": "G"}
    assert told(lake, before, after) == {
        ("A", "N", "split", 1),  # goes on without a record
        ("B", None, "gone", 1),  # its last record was deleted; of C's two only one was
        ("D", "E", "merged", 1), ("D", "F", "merged", 1),
    }  # fmt: skip


def test_what_was_deleted_of_an_entity_that_became_another_is_not_told(lake: Lake) -> None:
    assert told(lake, {"1": "A", "2": "A", "3": "B"}, {"2": "B", "3": "B"}) == {
        ("A", "B", "merged", 1),
    }  # fmt: skip
