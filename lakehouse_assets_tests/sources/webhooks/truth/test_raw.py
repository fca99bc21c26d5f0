"""What raw must hold, told by the json module alone."""

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from lakehouse_assets.sources.webhooks.truth import RAW
from lakehouse_assets.sources.webhooks.truth.raw import NAMED, parse
from lakehouse_assets.sources.webhooks.vendors import TOPICS

ORDER = {"_webhook_topic": "orders/updated", "id": 17, "order_number": 1001,
         "updated_at": "2026-05-04T07:00:00-05:00"}  # fmt: skip


def order(**said: Any) -> bytes:
    return json.dumps(ORDER | said).encode()


def test_every_topic_of_the_door_has_its_raw_table() -> None:
    assert set(RAW) == set(TOPICS) == set(NAMED)


def test_a_record_is_typed_and_what_is_nested_is_text() -> None:
    parsed = parse("shopify.orders", order(customer={"id": 5, "tags": ["é", None]}, total_tax=1.10))
    assert parsed.error is None and not parsed.has_unknown_fields
    kept = {name: value for name, value in parsed.row.items() if value is not None}
    assert kept == {
        "_webhook_topic": "orders/updated", "id": "17", "order_number": 1001, "total_tax": "1.1",
        "customer": '{"id":5,"tags":["é",null]}',
        "updated_at": datetime(2026, 5, 4, 12, tzinfo=timezone.utc),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, "null value"), (b"\xff", "invalid utf-8"), (b"{", "malformed"), (b"[]", "malformed"),
        (b'{"id":NaN}', "malformed"), (order(updated_at="yesterday"), "wrong type"),
        (order(updated_at=7), "wrong type"), (order(order_number="1001"), "wrong type"),
        (order(order_number=1.0), "wrong type"), (order(order_number=2**63), "wrong type"),
        (order(order_number=True), "wrong type"),
    ],
)  # fmt: skip
def test_what_is_no_record_of_the_topic_is_an_error(value: bytes | None, error: str) -> None:
    parsed = parse("shopify.orders", value)
    assert parsed.error == error and set(parsed.row.values()) == {None}


def test_a_field_without_a_column_is_noticed_and_a_renamed_one_found() -> None:
    assert parse("shopify.orders", order(note=None)).has_unknown_fields
    parsed = parse("hubspot.contacts", b'{"objectId":9,"associationRemoved":false}')
    assert (parsed.row["object_id"], parsed.row["is_association_removed"]) == ("9", False)
    assert not parsed.has_unknown_fields
