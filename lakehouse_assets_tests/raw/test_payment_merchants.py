"""raw.payment_merchants: every record one row; a null value is a deletion and no error."""

import json
from datetime import datetime, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_merchants import PaymentMerchants, payment_merchants
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

KNOWN = {"merchant_id": "mer_1", "name": "Shop Ltd", "category": "travel", "country": "IE"}


def test_a_merchant_is_typed_and_otherwise_as_it_was_sent(lake: Lake) -> None:
    sent = KNOWN | {"onboarded_at": "2024-03-01T10:00:00Z"}
    (row,) = parsed(lake, payment_merchants, json.dumps(sent).encode(), keys=["mer_1"])
    assert {n: row[n] for n in sent} == KNOWN | {
        "onboarded_at": datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
    }
    assert (row["kafka_key"], row["is_deletion"], row["_error"]) == ("mer_1", False, None)


def test_a_null_value_deletes_its_key(lake: Lake) -> None:
    (row,) = parsed(lake, payment_merchants, None, keys=["mer_1"])
    assert (row["kafka_key"], row["is_deletion"], row["merchant_id"]) == ("mer_1", True, None)


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "null_spellings": KNOWN | {"category": ""},
    }
    assert broken_rules(lake, PaymentMerchants, KNOWN, *dirty.values()) == ["", *dirty]
