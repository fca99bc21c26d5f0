"""What a record of the capture becomes in raw and staging, and what is set aside."""

import json
from datetime import date, timedelta
from decimal import Decimal

from lakehouse_assets.sources.storefront.truth import QUARANTINE, RAW, expected
from lakehouse_assets.sources.storefront.truth.written import Schemas, written
from lakehouse_assets_tests.sources.storefront.truth.said import (
    T0,
    at,
    change,
    delivered,
    schema,
    schemas_of,
    seen,
    told,
)

RAW_ORDERS, STG_ORDERS = "raw.storefront_orders", "staging.stg_storefront_orders"
RAW_ITEMS, STG_ITEMS = "raw.storefront_order_items", "staging.stg_storefront_order_items"
STG_PRODUCTS = "staging.stg_storefront_products"


def test_raw_has_every_record_and_staging_every_change() -> None:
    new, paid = {"id": 1, "total": Decimal("5.00")}, {"id": 1, "total": Decimal("7.50")}
    truth = told(
        change("orders", "c", 1, new), change("orders", "u", 2, paid, new),
        change("orders", "d", 3, was=paid), ("orders", None),
    )  # fmt: skip
    assert seen(truth[RAW_ORDERS], "kafka_offset", "op", "is_deletion", "error") == [
        (0, "c", False, None), (1, "u", False, None), (2, "d", False, None), (3, None, True, None),
    ]  # fmt: skip
    assert truth[RAW_ORDERS][1]["after"]["total"] == Decimal("7.50")
    assert truth[RAW_ORDERS][1]["source"]["lsn"] == 2
    assert not any(row["has_unknown_fields"] for row in truth[RAW_ORDERS])
    staged = sorted(truth[STG_ORDERS], key=lambda row: row["lsn"])
    assert seen(staged, "order_id", "op", "lsn", "order_in_transaction", "total", "changed_at") == [
        (1, "c", 1, 1, Decimal("5.00"), at(1)), (1, "u", 2, 1, Decimal("7.50"), at(2)),
        (1, "d", 3, 1, Decimal("7.50"), at(3)),
    ]  # fmt: skip
    assert not truth[QUARANTINE]


def test_a_key_that_moves_is_gone_under_the_old_one_and_there_under_the_new_one() -> None:
    line = {"order_id": 4, "quantity": 1, "unit_price": Decimal(3)}
    truth = told(
        change("order_items", "c", 1, line | {"line": 1}),
        change("order_items", "c", 2, line | {"line": 2, "quantity": 9}),
        change("order_items", "d", 3, was=line | {"line": 1}), ("order_items", None),
        change("order_items", "d", 4, was=line | {"line": 2}), ("order_items", None),
        change("order_items", "c", 4, line | {"line": 1, "quantity": 9}),
    )  # fmt: skip
    assert len(truth[RAW_ITEMS]) == 7 and len(truth[STG_ITEMS]) == 5
    assert seen(truth["semantic.storefront_order_items"], "line", "quantity", "lsn") == [(1, 9, 4)]


def test_a_long_text_that_was_not_sent_again_is_what_it_was() -> None:
    told_long = {"id": 1, "description": "long", "tags": ["a", None]}
    (row,) = told(change("products", "u", 1, {"id": 1, "tags": ["b"]}, told_long))[STG_PRODUCTS]
    assert (row["description"], row["tags"]) == ("long", ["b"])


def test_truncate_and_the_ends_of_a_snapshot_are_resets_without_a_row() -> None:
    truth = told(
        change("orders", "t", 1),
        change("orders", "r", 5, {"id": 1}, snapshot="first"),
        change("orders", "r", 5, {"id": 2}, snapshot="last"),
    )
    staged = truth[STG_ORDERS]
    assert sorted(seen(staged, "op", "lsn", "order_id", "event_date_source"), key=repr) == [
        ("r", 5, 1, "created_at"), ("r", 5, 2, "created_at"), ("s", 5, None, "ts_ms"),
        ("t", 1, None, "ts_ms"),
    ]  # fmt: skip


def test_a_row_whose_day_changes_is_told_as_gone_there_and_new_here() -> None:
    there, here = {"id": 1}, {"id": 1, "created_at": T0 + timedelta(days=2)}
    truth = told(change("orders", "c", 1, there), change("orders", "u", 2, here, there))
    staged = [row for row in truth[STG_ORDERS] if row["lsn"] == 2]
    assert sorted(seen(staged, "op", "event_date")) == [
        ("d", date(2026, 5, 4)), ("u", date(2026, 5, 6)),
    ]  # fmt: skip
    assert seen(truth["semantic.storefront_orders"], "order_id", "lsn") == [(1, 2)]


def test_days_and_instants_are_cast_and_a_change_that_came_twice_stands_once() -> None:
    once = change("products", "c", 1, {"id": 1, "released_on": 20_576, "price": Decimal(2)})
    (row,) = told(once, once)[STG_PRODUCTS]
    assert (row["released_on"], row["created_at"]) == (date(2026, 5, 3), T0)
    assert row["arrived_at"] == at(100)


def test_what_cannot_be_read_is_an_error_and_what_has_no_key_is_refused() -> None:
    _, good = change("orders", "c", 1, {"id": 1})
    assert good
    spoilt: dict[str, bytes] = {
        "no schema id": b"{}", "unknown schema 99": b"\0\0\0\0\x63", "malformed": good[:9],
    }  # fmt: skip
    truth = told(*[("orders", said) for said in spoilt.values()], change("orders", "c", 2, {}))
    assert seen(truth[RAW_ORDERS], "error") == [*spoilt, None]
    assert seen(truth[QUARANTINE], "kafka_offset", "stage", "reason") == [
        *[(n, "parse", reason) for n, reason in enumerate(spoilt)],
        (3, "staging", "order_id_present"),
    ]
    assert seen(truth[QUARANTINE], "source_table") == [RAW_ORDERS] * 4
    assert not truth[STG_ORDERS]


def test_a_schema_is_judged_by_its_types_and_by_what_it_has_beyond_the_table() -> None:
    def other(topic: str) -> Schemas:
        mine = schemas_of(topic)
        text = json.dumps(schema("customers"))
        for id in mine if topic.endswith("customers") else ():
            text = text.replace('"name": "segment", "type": ["null", "string"]',
                                '"name": "segment", "type": ["null", "int"]')  # fmt: skip
            mine[id] = written(text.replace('"phone"', '"fax"'))
        return mine

    records = delivered(change("customers", "c", 1, {"id": 1}))
    (row,) = expected(records, schemas_of=other)[RAW["storefront.public.customers"]]
    wrong = "after.segment is int, not string, before.segment is int, not string"
    assert (row["error"], row["has_unknown_fields"]) == (f"wrong type: {wrong}", True)
