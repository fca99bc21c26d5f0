"""raw.payment_customers: every record one row; a null value is a deletion and no error."""

import json
from datetime import datetime, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_customers import PaymentCustomers, payment_customers
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

KNOWN = {"customer_id": "cus_1", "name": "Ada", "email": "a@b", "country": "GB", "segment": "vip"}


def test_a_customer_is_typed_and_otherwise_as_it_was_sent(lake: Lake) -> None:
    sent = KNOWN | {"signed_up_at": "2024-03-01T10:00:00Z"}
    (row,) = parsed(lake, payment_customers, json.dumps(sent).encode(), keys=["cus_1"])
    assert {n: row[n] for n in sent} == KNOWN | {
        "signed_up_at": datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
    }
    assert (row["kafka_key"], row["is_deletion"], row["_error"]) == ("cus_1", False, None)


def test_a_null_value_deletes_its_key_and_rubbish_is_an_error(lake: Lake) -> None:
    found = parsed(lake, payment_customers, None, None, b"", keys=["cus_1", None, "cus_2"])
    assert [(r["kafka_key"], r["is_deletion"], r["_error"], r["_payload"]) for r in found] == [
        ("cus_1", True, None, None), (None, True, None, None), ("cus_2", False, "malformed", b""),
    ]  # fmt: skip


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "null_spellings": KNOWN | {"email": "None"},
    }
    assert broken_rules(lake, PaymentCustomers, KNOWN, *dirty.values()) == ["", *dirty]
