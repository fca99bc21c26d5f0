"""staging.stg_storefront_*: the shop's changes, cast, each with its place in the database's log."""

from datetime import date, datetime, timezone
from typing import Any

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.schema import members
from lakehouse_assets.looks import standing
from lakehouse_assets.raw.change import ORIGIN
from lakehouse_assets.staging.storefront import TABLES, UNCHANGED
from lakehouse_assets_tests.lake.tables import add, result
from lakehouse_assets_tests.support import broken_rules, rows

Row = dict[str, Any]

COMMITTED = datetime(2026, 5, 2, 9, tzinfo=timezone.utc)
PRODUCT: Row = {
    "id": 1, "category_id": 7, "sku": "T-1", "name": "Tea", "description": "Long", "price": None,
    "currency": "EUR", "tags": ["a"], "attributes": "{}", "weight_grams": None, "is_active": True,
    "released_on": 20_576, "created_at": "2026-05-01T08:00:00.123456Z",
    "updated_at": "2026-05-01T08:00:00Z",
}  # fmt: skip


def record(op: str | None, lsn: int = 10, snapshot: str = "false", **row: Row | None) -> Row:
    """A record of raw; one without an operation has no value."""
    source = dict.fromkeys(dict(members(ORIGIN)))
    source |= {"lsn": lsn, "ts_ms": int(COMMITTED.timestamp() * 1000), "txId": 5}
    place = {"id": "5:10", "total_order": 3, "data_collection_order": 1}
    return {
        "op": op, "source": source | {"snapshot": snapshot}, "transaction": place,
        "is_deletion": op is None, "arrived_at": COMMITTED, **row,
    }  # fmt: skip


def staged(lake: Lake, *records: Row, name: str = "products") -> list[Row]:
    table = TABLES[name]
    (raw,) = table.parents.values()
    return result(table, changes=rows(lake.spark, raw.contract, *records))


def test_a_change_is_cast_and_says_where_and_when_it_was(lake: Lake) -> None:
    (row,) = staged(lake, record("u", before=PRODUCT, after=PRODUCT | {"weight_grams": 80}))
    assert row["created_at"] == datetime(2026, 5, 1, 8, 0, 0, 123456, tzinfo=timezone.utc)
    assert row["released_on"] == date(2026, 5, 3)
    assert (row["product_id"], row["weight_grams"], row["tags"]) == (1, 80, ["a"])
    assert (row["op"], row["lsn"], row["transaction_id"]) == ("u", 10, 5)
    assert row["order_in_transaction"] == 3
    assert row["changed_at"] == COMMITTED
    assert (row["event_date"], row["event_date_source"]) == (date(2026, 5, 1), "created_at")


def test_a_deletion_tells_the_row_as_it_was_and_tombstones_say_nothing(lake: Lake) -> None:
    (row,) = staged(lake, record("d", before=PRODUCT), record(None))
    assert (row["op"], row["product_id"], row["sku"]) == ("d", 1, "T-1")


def test_a_long_value_that_was_not_sent_again_is_what_it_was(lake: Lake) -> None:
    unsent = {"description": UNCHANGED, "attributes": UNCHANGED, "tags": [UNCHANGED]}
    (row,) = staged(lake, record("u", before=PRODUCT, after=PRODUCT | unsent))
    assert (row["description"], row["attributes"], row["tags"]) == ("Long", "{}", ["a"])


def test_truncate_and_a_snapshot_reset_the_table(lake: Lake) -> None:
    last = record("r", 20, "last_in_data_collection", after=PRODUCT)
    found = staged(lake, record("t", 12), record("r", 20, "first", after=PRODUCT | {"id": 2}), last)
    assert {(r["op"], r["lsn"], r["product_id"]) for r in found} == {
        ("t", 12, None), ("s", 20, None), ("r", 20, 1), ("r", 20, 2),
    }  # fmt: skip
    assert {r["event_date_source"] for r in found if r["op"] in "ts"} == {"ts_ms"}


def test_the_only_row_of_a_snapshots_first_table_resets_it(lake: Lake) -> None:
    found = staged(lake, record("r", 20, "first", after=PRODUCT))
    assert sorted((r["op"], r["product_id"]) for r in found) == [("r", 1), ("s", None)]


def test_a_row_whose_day_changes_is_deleted_there_and_new_here(lake: Lake) -> None:
    moved = PRODUCT | {"created_at": "2026-06-01T00:00:00Z"}
    found = staged(lake, record("u", before=PRODUCT, after=moved))
    told = sorted((r["op"], r["event_date"]) for r in found)
    assert told == [("d", date(2026, 5, 1)), ("u", date(2026, 6, 1))]


def test_a_change_that_comes_twice_stands_once_and_a_key_moves_as_two_changes(lake: Lake) -> None:
    change = record("c", after=PRODUCT)
    moved = [record("d", 30, before=PRODUCT), record("c", 30, after=PRODUCT | {"id": 9})]
    assert len(staged(lake, change, change, *moved)) == 3


def test_what_cannot_be_cast_is_null_and_counted(lake: Lake) -> None:
    far = PRODUCT | {"created_at": "+292278994-08-16T23:00:00Z"}
    (row,) = staged(lake, record("c", after=far))
    assert row["created_at"] is None and row["event_date_source"] == "ts_ms"
    contract = TABLES["products"].contract
    (why,) = broken_rules(lake, contract, {"op": "c", "product_id": 1, "_lost": "created_at"})
    assert "casts_lose_nothing" not in why, "it is counted, not refused"
    assert next(r for r in contract.all_rules() if r.name == "casts_lose_nothing").refuses is False


def test_a_change_without_a_key_is_refused_unless_it_resets(lake: Lake) -> None:
    table = TABLES["order_items"]
    told = {"lsn": 1, "changed_at": COMMITTED, "event_date": COMMITTED.date(),
            "event_date_source": "ts_ms", "arrived_at": COMMITTED}  # fmt: skip
    given = [told | {"op": "c", "order_id": 1}, *[told | {"op": op} for op in ("t", "s")]]
    assert broken_rules(lake, table.contract, *given) == ["line_present", "", ""]


def test_every_record_has_its_place_though_one_may_make_two_rows_and_another_none(
    lake: Lake,
) -> None:
    table = TABLES["products"]
    (raw,) = table.parents.values()
    moved = PRODUCT | {"created_at": "2026-06-01T00:00:00Z"}
    told = [
        record("r", 20, "last_in_data_collection", after=PRODUCT), record(None),
        record("u", 21, before=PRODUCT, after=moved), record("u", 22, before=moved, after=moved),
        record("u", 22, before=moved, after=moved), {"_error": "malformed", "is_deletion": False},
    ]  # fmt: skip
    hour = COMMITTED.replace(minute=0)
    place = {"topic_generation": 0, "kafka_partition": 0, "ingest_hour": hour}
    records = [one | place | {"kafka_offset": n} for n, one in enumerate(told)]
    add(lake, raw, *records, stated=False)
    advance(lake, table, hour)
    complete, found = standing.reconciles_with_raw(lake, table, lake.catalog.head(table.name))
    assert complete, found
    assert (found["raw"], found["staged"], found["did not parse"]) == (5, 5, 1)
