"""semantic.storefront_order_items: what is in the shop now, in whatever batches its changes come.

The tests of how any table of the shop follows its changes are here, since this one's key has two
columns.
"""

from collections.abc import Sequence
from datetime import timedelta

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_order_items import storefront_order_items as items
from lakehouse_assets_tests.semantic.shop import T0, Row, after, change, last_stands, told

NONE: Row = {"order_id": None, "line": None}
OTHER_DAY = T0 - timedelta(days=9)


def line(number: int, quantity: int, **more: object) -> Row:
    return {"order_id": number, "line": 1, "quantity": quantity} | more


def quantities(lake: Lake, *batches: Sequence[Row]) -> dict[int, int]:
    return told(after(lake, items, *batches), items, "quantity")


def test_the_last_change_in_the_databases_log_stands(lake: Lake) -> None:
    last_stands(lake, items, "quantity", 1, 2)


def test_late_changes_revive_nothing_and_resets_sweep_away_what_was_before(lake: Lake) -> None:
    made = [change("r", 1, **line(number, 1)) for number in (1, 2, 3)]
    changed = [change("u", 9, minute=1, **line(1, 3)), change("d", 5, **line(2, 2))]
    late = [change("u", 4, minute=99, **line(1, 2)), change("u", 3, **line(2, 2))]
    assert quantities(lake, made, changed, late) == {1: 3, 3: 1}
    swept = [change("t", 12, **NONE), change("c", 13, **line(4, 1))]
    assert quantities(lake, swept, [change("u", 11, **line(1, 2))]) == {4: 1}
    snapshot = [change("s", 20, **NONE), change("r", 20, **line(5, 1))]
    assert quantities(lake, snapshot, [change("u", 21, **line(5, 2))]) == {5: 2}


def test_a_row_that_moves_to_another_day_stands_once(lake: Lake) -> None:
    made = [change("c", 1, **line(1, 1)), change("c", 2, **line(2, 1))]
    moved = [change("d", 3, **line(1, 1)), change("u", 3, **line(1, 2, created_at=OTHER_DAY))]
    late = [change("u", 2, minute=5, **line(1, 9))]  # tells of the day on which it stood before
    assert quantities(lake, made, moved, late) == {1: 2, 2: 1}
