"""The check sees what is missing, too much or there twice, and names it; a file that follows its
raw table by minutes is in order.
"""

import re
from datetime import timedelta
from typing import Any

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.landing import held
from lakehouse_assets.landing.container import header_of
from lakehouse_assets.landing.held import look
from lakehouse_assets.landing.hours import land
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.landing.shop import EARLIER, Orders

NAME = f"{EARLIER:%Y-%m-%d-%H}"


def wrong(lake: Lake, orders: Orders) -> dict[str, Any]:
    return look(lake, orders.table, [EARLIER]).wrong


def test_what_is_missing_too_much_or_there_twice_is_named(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "ON_THEIR_WAY", timedelta(0))
    orders.arrive(lake, *map(orders.change, range(3)), b"no Avro", at=EARLIER)
    land(lake, orders.table)
    (file,) = orders.folder.glob("*/*")
    orders.arrive(lake, *map(orders.change, (4, 5)), at=EARLIER)
    land(lake, orders.table)
    assert wrong(lake, orders) == {}
    whole = file.read_bytes()
    with file.open("rb") as opened:
        header = header_of(opened)
    ends = [m.end() for m in re.finditer(re.escape(header.sync), whole)]  # header, two blocks
    assert len(ends) == 3 and ends[2] == len(whole)
    file.write_bytes(whole[: ends[1]])
    second = {"records": 2, "at partition:offset": ["0:4", "0:5"]}
    assert wrong(lake, orders) == {NAME: {"missing": second}}
    file.write_bytes(whole + whole[ends[1] :])
    assert wrong(lake, orders) == {NAME: {"several_times": second}}
    file.write_bytes(whole[:-3])
    assert str(file) in wrong(lake, orders)[NAME]["unreadable"]
    file.unlink()
    assert wrong(lake, orders)[NAME]["missing"]["records"] == 5
    file.write_bytes(whole)
    lake.spark.sql(f"delete from {orders.table.name} where kafka_offset = 5")
    assert wrong(lake, orders) == {
        NAME: {"in_excess": {"records": 1, "at partition:offset": ["0:5"]}}
    }


def test_what_came_a_moment_ago_may_be_on_its_way_but_not_for_long(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    land(lake, orders.table)
    orders.arrive(lake, orders.change(2), at=EARLIER)
    assert wrong(lake, orders) == {}
    monkeypatch.setattr(held, "ON_THEIR_WAY", timedelta(0))
    assert wrong(lake, orders)[NAME]["missing"]["at partition:offset"] == ["0:1"]
    land(lake, orders.table)
    assert wrong(lake, orders) == {}


def test_of_many_hours_the_newest_are_looked_into_and_the_others_are_counted(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "LOOKED_INTO", 1)
    orders.arrive(lake, orders.change(1), orders.change(2), at=EARLIER)
    orders.arrive(lake, orders.change(3), at=now())
    land(lake, orders.table)
    found = look(lake, orders.table, [])
    assert (found.hours, found.records, found.wrong) == (2, 3, {})
    newest = f"{hour_of(now()):%Y-%m-%d-%H}"
    first, last = sorted(orders.folder.glob("*/*"))
    first.unlink()
    last.unlink()
    monkeypatch.setattr(held, "ON_THEIR_WAY", timedelta(0))
    found = look(lake, orders.table, [])
    assert found.wrong[NAME] == {"in_raw": 2}
    assert newest not in found.wrong or found.wrong[newest]["missing"]["records"] == 1
    assert len(found.wrong) == 2


def test_a_table_that_was_never_made_has_nothing_to_complain_of(
    lake: Lake, orders: Orders
) -> None:
    assert look(lake, orders.table, []) == held.Finding()
