"""semantic.storefront_customer_history: what was known of a customer, from when until when."""

from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_customer_history import (
    StorefrontCustomerHistory,
    storefront_customer_history,
)
from lakehouse_assets_tests.semantic.shop import T0, Row, after, change
from lakehouse_assets_tests.support import broken_across, broken_rules

NONE: Row = {"customer_id": None}


def ada(op: str, lsn: int, segment: str | None, **more: Any) -> Row:
    return change(op, lsn, customer_id=1, segment=segment, **more)


def spans(found: list[Row]) -> list[tuple[Any, ...]]:
    """Minutes from and to, and what was so."""
    ends = [r["valid_to_at"] and (r["valid_to_at"] - T0).seconds // 60 for r in found]
    return sorted(
        ((r["valid_from_at"] - T0).seconds // 60, end, r["segment"], r["is_deleted"])
        for r, end in zip(found, ends, strict=True)
    )


def test_a_version_lasts_until_the_next_one_in_the_databases_log(lake: Lake) -> None:
    first = [ada("r", 10, "new", minute=10), ada("u", 12, "vip")]
    late, clock_back = [ada("u", 11, "loyal")], [ada("u", 20, "regular", minute=2)]
    found = after(lake, storefront_customer_history, first, late, clock_back)
    assert spans(found) == [
        (0, 11, "new", False),  # since they were made, for nobody knows better
        (11, 12, "loyal", False),
        (12, None, "regular", False),  # a clock that went back: the last one in the log stands
    ]
    assert not broken_across(lake, storefront_customer_history)


def test_a_deletion_and_a_reset_are_versions_of_which_nothing_is_known(lake: Lake) -> None:
    made = [ada("c", 1, "new"), change("c", 1, customer_id=2, segment="new")]
    gone = [ada("d", 3, "new"), ada("c", 5, "vip")]
    snapshot = [change("s", 9, **NONE), ada("r", 9, "vip")]
    found = after(lake, storefront_customer_history, made, gone, snapshot)
    of_ada = [r for r in found if r["customer_id"] == 1]
    assert spans(of_ada) == [
        (0, 3, "new", False), (3, 5, None, True), (5, 9, "vip", False), (9, None, "vip", False),
    ]  # fmt: skip
    other = [r for r in found if r["customer_id"] == 2]
    assert spans(other) == [(0, 9, "new", False), (9, None, None, True)], "not in the snapshot"
    broken = broken_rules(lake, StorefrontCustomerHistory, *[r for r in found if r["is_deleted"]])
    assert not [why for why in broken if "nothing_of_deleted" in why]
