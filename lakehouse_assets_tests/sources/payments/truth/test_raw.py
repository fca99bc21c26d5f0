from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from lakehouse_assets.sources.payments import CHARGES
from lakehouse_assets.sources.payments.truth import QUARANTINE, RAW, STAGING, Delivered, expected
from lakehouse_assets.sources.payments.truth.raw import parse

CUSTOMERS, DISPUTES = "payment_customers", "payment_disputes"
NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (None, "null value"),
        (b'{"description":"\xff"}', "invalid utf-8"),
        (b"", "malformed"),
        (b"  ", "malformed"),
        (b"<html>", "malformed"),
        (b'{"event_id":"e1"', "malformed"),
        (b'[{"event_id":"e1"}]', "malformed"),
        (b"42", "malformed"),
        (b"null", "malformed"),
        (b'{"event_id":"e1"} {}', "malformed"),
        (b'{"amount":NaN}', "malformed"),
        (b"[" * 200_000, "malformed"),
        (b'{"amount":"twelve"}', "wrong type"),
        (b'{"amount":true}', "wrong type"),
        (b'{"amount":99999999.995}', "wrong type"),
        (b'{"amount":1e999999999}', "wrong type"),
        (b'{"card_exp_year":"20x7"}', "wrong type"),
        (b'{"card_exp_year":"2027"}', "wrong type"),
        (b'{"card_exp_year":2027.0}', "wrong type"),
        (b'{"risk_score":2147483648}', "wrong type"),
        (b'{"metadata":["order_id"]}', "wrong type"),
        (b'{"metadata":"order_id"}', "wrong type"),
        (b'{"created_at":"yesterday"}', "wrong type"),
        (b'{"created_at":"2026-02-30T00:00:00Z"}', "wrong type"),
        (b'{"created_at":1767225600}', "wrong type"),
    ],
)
def test_a_record_that_is_no_event_is_an_error_with_empty_columns(
    record: bytes | None, error: str
) -> None:
    truth = expected([Delivered(CHARGES, 0, 0, NOON, None, record)])
    (row,) = truth[RAW[CHARGES]]
    assert row.pop("error") == error
    assert {row.pop("arrived_at"), row.pop("ingest_hour")} == {NOON}
    assert {row.pop("kafka_partition"), row.pop("kafka_offset")} == {0}
    assert row.pop("has_unknown_fields") is False
    assert set(row.values()) == {None}
    assert truth[QUARANTINE] == [
        {
            "source_table": RAW[CHARGES],
            "kafka_partition": 0,
            "kafka_offset": 0,
            "stage": "parse",
            "reason": error,
        }
    ]
    assert truth[STAGING[CHARGES]] == []


@pytest.mark.parametrize(
    ("column", "said", "typed"),
    [
        ("amount", "12.345", Decimal("12.35")),
        ("amount", '"12.345"', Decimal("12.35")),
        ("amount", "0.1", Decimal("0.10")),
        ("amount", "1e2", Decimal("100.00")),
        ("amount", "99999999.99", Decimal("99999999.99")),
        ("amount", "null", None),
        ("risk_score", "-2147483648", -(2**31)),
        ("card_last4", "4242", "4242"),
        ("3ds_authenticated", "true", "true"),
        ("merchant_name", '"Bäckerei"', "Bäckerei"),
        ("metadata", '{"order_id":7,"x":1}',
         {"order_id": "7", "user_email": None, "subscription_id": None}),
        ("metadata", "null", None),
        ("created_at", '"2026-05-04T11:00:00.123Z"', NOON.replace(hour=11, microsecond=123_000)),
        ("created_at", '"2026-05-04T13:00:00+02:00"', NOON.replace(hour=11)),
    ],
)  # fmt: skip
def test_a_value_is_read_by_the_type_of_its_column(column: str, said: str, typed: Any) -> None:
    parsed = parse(CHARGES, f'{{"{column}":{said}}}'.encode())
    assert parsed.error is None
    assert parsed.row[column] == typed
    assert str(parsed.row[column]) == str(typed)


def test_unknown_fields_are_seen_at_the_top_and_inside_metadata() -> None:
    assert parse(CHARGES, b'{"event_id":"e1","loyalty":{"tier":"gold"}}').has_unknown_fields
    assert parse(CHARGES, b'{"metadata":{"utm_source":"x"}}').has_unknown_fields
    assert not parse(CHARGES, b'{"event_id":"e1","metadata":{"order_id":"o1"}}').has_unknown_fields


def test_unknown_fields_are_seen_two_objects_deep() -> None:
    assert parse(DISPUTES, b'{"evidence":{"metadata":{"pages":3}}}').has_unknown_fields
    known = parse(DISPUTES, b'{"evidence":{"metadata":{"document_count":3}}}')
    assert not known.has_unknown_fields
    assert known.row["evidence"]["metadata"] == {"submitted_by": None, "document_count": 3}


def test_a_null_value_on_a_keyed_topic_is_a_deletion_and_no_error() -> None:
    truth = expected([Delivered(CUSTOMERS, 0, 0, NOON, b"cus_1", None)])
    (row,) = truth[RAW[CUSTOMERS]]
    assert (row["error"], row["kafka_key"], row["is_deletion"]) == (None, "cus_1", True)
    (staged,) = truth[STAGING[CUSTOMERS]]
    assert (staged["customer_id"], staged["changed_at"], staged["is_deleted"]) == (
        "cus_1", NOON, True,
    )  # fmt: skip
