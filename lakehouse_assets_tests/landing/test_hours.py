"""Each hour of a captured table is one Avro file that holds just its good records, whatever came
how; it is written when there are news in it, and not otherwise.
"""

import json
import os
import subprocess
import sys
import threading
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands.repair import replay
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.landing import writing
from lakehouse_assets.landing.hours import land, land_anew
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets.topics.registry import Written
from lakehouse_assets_tests.landing.shop import EARLIER, Orders
from lakehouse_assets_tests.topics.test_avro import spoken


def written(lake: Lake, orders: Orders) -> list[tuple[datetime, int, int]]:
    return [(one.hour, one.rows, one.added) for one in land(lake, orders.table)]


def test_a_record_is_left_as_it_was_captured_and_tells_where_in_kafka_it_is(
    lake: Lake, orders: Orders
) -> None:
    at = EARLIER.replace(minute=7, microsecond=123_000)
    orders.arrive(lake, orders.change(1, total=Decimal("7.50"), note="für"), None, at=at)
    (landed,) = land(lake, orders.table)
    change, tombstone = orders.read()
    assert change["after"] | {"id": 1, "total": Decimal("7.50"), "note": "für"} == change["after"]
    assert (change["before"], change["op"], change["ts_ms"]) == (None, "c", 7)
    assert (change["source"]["lsn"], change["source"]["table"]) == (1, "orders")
    kafka = {"topic": orders.table.topic, "generation": 0, "partition": 0, "timestamp": at}
    assert change["kafka"] == kafka | {"offset": 0}
    assert tombstone.pop("kafka") == kafka | {"offset": 1}
    assert set(tombstone.values()) == {None}
    (file,) = orders.folder.glob("*/*")
    assert file.parent.name == f"{at:%Y-%m-%d-%H}" and landed.address == str(file)
    assert (landed.rows, landed.bytes) == (2, file.stat().st_size)


def test_news_are_added_to_their_hour_and_other_hours_are_left_alone(
    lake: Lake, orders: Orders
) -> None:
    orders.arrive(lake, orders.change(1), orders.change(2), at=EARLIER)
    orders.arrive(lake, orders.change(3), at=now())
    latest = hour_of(now())
    assert written(lake, orders) == [(EARLIER, 2, 2), (latest, 1, 1)]
    (first, second) = sorted(orders.folder.glob("*/*"))
    untouched, older = (first.stat().st_ino, first.stat().st_mtime_ns), second.read_bytes()
    assert land(lake, orders.table) == []
    orders.arrive(lake, orders.change(4), orders.change(5), at=now())
    orders.arrive(lake, orders.change(6), at=now())
    assert sum(added for _, _, added in written(lake, orders)) == 3
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == untouched
    assert orders.ids() == [1, 2, 3, 4, 5, 6] and set(orders.places().values()) == {1}
    if hour_of(now()) == latest:
        assert older[-40:] in second.read_bytes(), "what stood there was taken over as it was"


def test_records_of_two_schemas_share_an_hour(lake: Lake, orders: Orders) -> None:
    wider = json.loads(json.dumps(orders.schema))
    wider["fields"][0]["type"][1]["fields"].insert(0, {"name": "colour", "type": "string"})
    orders.written.append(Written(300, json.dumps(wider)))
    after = {"id": 2, "colour": "red"}
    narrow = orders.change(1)
    wide = spoken(300, wider, {"after": after, "op": "c", "source": {}})
    orders.arrive(lake, narrow, wide, at=EARLIER)
    assert written(lake, orders) == [(EARLIER, 2, 2)]
    assert orders.ids() == [1, 2]


def test_what_does_not_decode_is_left_out_until_it_does_and_its_hour_is_then_written_whole(
    lake: Lake, orders: Orders
) -> None:
    odd = spoken(9, orders.schema, {"after": {"id": 3}, "op": "c", "source": {}})
    orders.arrive(lake, b"no Avro", odd, at=EARLIER)
    orders.arrive(lake, orders.change(1), at=now())
    latest = hour_of(now())
    assert written(lake, orders) == [(EARLIER, 0, 0), (latest, 1, 1)]
    assert orders.ids() == [1], "an hour of which nothing decoded is a file of no records"
    orders.written.append(Written(9, json.dumps(orders.schema)))
    assert replay(lake, orders.table)
    assert written(lake, orders) == [(EARLIER, 1, 1)]
    assert orders.ids() == [1, 3]


def test_an_hour_is_written_anew_by_hand_whatever_stands_there(lake: Lake, orders: Orders) -> None:
    orders.arrive(lake, orders.change(1), orders.change(2), at=EARLIER)
    land(lake, orders.table)
    (file,) = orders.folder.glob("*/*")
    for damaged in (file.read_bytes()[:-30], b"", b"Obj\x01\x02" + b"\xff" * 30):
        file.write_bytes(damaged)
        (landed,) = land_anew(lake, orders.table, [EARLIER])
        assert (landed.rows, orders.ids()) == (2, [1, 2])


def test_an_hour_that_raw_no_longer_has_is_removed(lake: Lake, orders: Orders) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    orders.arrive(lake, orders.change(2), at=now())
    land(lake, orders.table)
    lake.spark.sql(f"delete from {orders.table.name} where ingest_hour < '{hour_of(now())}'")
    (landed,) = land(lake, orders.table)
    assert (landed.hour, landed.is_there) == (EARLIER, False)
    assert orders.ids() == [2] and len(list(orders.folder.iterdir())) == 1


def test_compaction_makes_no_work(lake: Lake, orders: Orders) -> None:
    for id in (1, 2):
        orders.arrive(lake, orders.change(id), at=EARLIER)
    land(lake, orders.table)
    options = "options => map('min-input-files', '2')"
    call = f"call lake.system.rewrite_data_files(table => '{orders.table.name}', {options})"
    assert lake.spark.sql(call).collect()[0]["rewritten_data_files_count"] == 2
    assert land(lake, orders.table) == []


def test_a_great_hour_is_read_in_parts_and_stands_in_order(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "AT_ONCE", 2)
    monkeypatch.setattr(writing, "IN_MEMORY", 100)
    orders.arrive(lake, *map(orders.change, range(7)), at=EARLIER)
    assert written(lake, orders) == [(EARLIER, 7, 7)]
    assert [r["kafka"]["offset"] for r in orders.read()] == list(range(7))


def test_killed_at_any_moment_leaves_the_old_file_or_the_new_one_and_the_next_run_mends_the_rest(
    lake: Lake, orders: Orders
) -> None:
    orders.arrive(lake, orders.change(1), at=EARLIER)
    land(lake, orders.table)
    orders.arrive(lake, orders.change(2), at=EARLIER)
    unfinished = Path(settings.landing()) / "unfinished"
    for point, ids, remains in (("publish", [1], 1), ("published", [1, 2], 0)):
        died = subprocess.run(
            [sys.executable, "-m", "lakehouse_assets_tests.landing.killed", orders.table.topic],
            env=os.environ | {"LAKEHOUSE_KILL_AT": f"{point}@landing.storefront_orders"},
            cwd=settings.ROOT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert died.returncode == -9, died.stderr
        assert orders.ids() == ids
        assert len(list(unfinished.iterdir())) == remains, "each clears what the one before left"
    assert land(lake, orders.table) == []
    assert orders.ids() == [1, 2]


def test_an_older_run_that_replaces_a_newer_ones_file_is_found_out(
    lake: Lake, orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older one has looked and waits; the newer one notes what it did when both have moved."""
    orders.arrive(lake, orders.change(1), at=EARLIER)
    newer, at_its_note, go_on = Lake(run="newer"), threading.Event(), threading.Event()
    newer.compile(False)
    passed: list[str] = []

    def bring() -> None:
        land(newer, orders.table)
        at_its_note.set()  # or it has none to make

    thread = threading.Thread(target=bring)

    def at(point: str, what: str) -> None:
        mine = f"{threading.current_thread() is thread} {point}"
        passed.append(mine)
        if mine == "False publish" and passed.count(mine) == 1:
            orders.arrive(lake, orders.change(2), at=EARLIER)
            thread.start()
            assert at_its_note.wait(60)
        if mine == "True publish" and passed.count(mine) == 2:
            at_its_note.set()
            go_on.wait(60)

    with monkeypatch.context() as patch:
        patch.setattr("lakehouse_assets.landing.place.waypoint.passed", at)
        land(lake, orders.table)
        go_on.set()
        thread.join()
    newer.close()
    assert orders.ids() == [1], "the older file stands"
    land(lake, orders.table)
    assert orders.ids() == [1, 2] and land(lake, orders.table) == []


def test_two_runs_at_once_never_show_a_reader_half_an_hour_or_a_record_twice(
    lake: Lake, orders: Orders
) -> None:
    stop, seen = threading.Event(), list[list[int]]()

    def read() -> None:
        while not stop.is_set():
            seen.append(orders.ids())

    def bring() -> None:
        other = Lake(run="at once")
        other.compile(False)
        try:
            land(other, orders.table)
        except Exception as error:
            failed.append(error)
        finally:
            other.close()

    failed: list[Exception] = []
    reader = threading.Thread(target=read)
    reader.start()
    for first in range(0, 12, 4):
        orders.arrive(lake, *map(orders.change, range(first, first + 4)), at=EARLIER)
        both = [threading.Thread(target=bring) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
    stop.set()
    reader.join()
    whole = [list(range(count)) for count in (0, 4, 8, 12)]
    assert not failed and whole[2] in seen and all(ids in whole for ids in seen)
    assert land(lake, orders.table) == [] and orders.ids() == list(range(12))
