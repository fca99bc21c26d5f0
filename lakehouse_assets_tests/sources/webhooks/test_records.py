"""The door's records as a raw table reads them, with Spark."""

from datetime import datetime, timezone

import orjson
import pytest

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.sources.webhooks.records import MAX_DEPTH, objects, parsed, record
from lakehouse_assets_tests.topics.records import parsed as rows_of

OURS = {
    "_webhook_topic": "orders/updated", "_webhook_id": "w-1",
    "_received_at": "2026-05-04T12:00:00.250Z",
}  # fmt: skip


class Orders(RawTable, name="raw.orders"):
    """raw.orders: one row per record."""

    webhook_topic = column("string", "What happened.", name="_webhook_topic")
    webhook_id = column("string", "The delivery.", name="_webhook_id")
    received_at = column("timestamp", "At the door, UTC.", name="_received_at")
    id = column("bigint", "The order.")
    total_price = column("string", "As text.")
    line_items = column("string", "JSON, as the vendor wrote it.")


def test_a_record_is_typed_columns_with_what_is_nested_as_text(lake: Lake) -> None:
    bodies = [
        b'{"id": 1, "total_price":"10.10","line_items":[{"sku": "a", "price": 1.10}]}',
        b"{}", b' { } ', b'{"id":1,"id":2}', '{"total_price":"€ \\u00e9"}'.encode(),
    ]  # fmt: skip
    table = raw_table(Orders, topic="orders", group="bare")
    found = rows_of(lake, table, *[record(OURS, body) for body in bodies])
    assert [row["_error"] for row in found] == [None] * len(bodies)
    for row in found:
        assert (row["_webhook_topic"], row["_webhook_id"]) == ("orders/updated", "w-1")
        assert row["_received_at"] == datetime(2026, 5, 4, 12, 0, 0, 250_000, timezone.utc)
    assert [row["id"] for row in found] == [1, None, None, 2, None]
    assert orjson.loads(found[0]["line_items"]) == [{"sku": "a", "price": 1.1}]
    assert found[4]["total_price"] == "€ é"


def test_of_names_that_stand_twice_spark_takes_the_last_so_ours_may_not(lake: Lake) -> None:
    spoofed = record(OURS, b'{"id":1,"\\u005fwebhook_topic":"orders/delete"}')
    (row,) = rows_of(lake, raw_table(Orders, topic="orders", group="bare"), spoofed)
    assert row["_webhook_topic"] == "orders/delete"  # which is why the door refuses such a body


def test_what_the_door_takes_is_not_too_deep_for_spark(lake: Lake) -> None:
    deep = b'{"line_items":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}"
    parsed(deep)
    (row,) = rows_of(lake, raw_table(Orders, topic="orders", group="bare"), record(OURS, deep))
    assert row["_error"] is None and row["line_items"].startswith("[[[[")


def test_half_a_letter_is_read_as_a_question_mark(lake: Lake) -> None:
    half = record(OURS, b'{"total_price":"\\ud83d"}')
    (row,) = rows_of(lake, raw_table(Orders, topic="orders", group="bare"), half)
    assert (row["_error"], row["total_price"]) == (None, "?")


@pytest.mark.parametrize("inside", [
    b'{"a":"]}"}', b'{"a":"\\"}{","b":[{},[{}]]}', b'{"a\\\\":{"}":1}}', b'{"":{}}', b"{}",
    '{"é":"\\u007d"}'.encode(),
])  # fmt: skip
@pytest.mark.parametrize("space", [b"", b" \r\n\t"])
def test_each_element_of_an_array_keeps_its_own_bytes(inside: bytes, space: bytes) -> None:
    both = [inside, b'{"last":1}']
    body = space + b"[" + space + (space + b"," + space).join(both) + space + b"]" + space
    assert [raw for _, raw in objects(parsed(body), body)] == both
