"""raw.payment_refunds: every record one row, as it was sent."""

import json
from datetime import datetime, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_refunds import PaymentRefunds, payment_refunds
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

TICKET = {"refund_requested_by": "support", "original_order_id": "o1", "support_ticket_id": "t1"}


def test_a_refund_is_typed_and_otherwise_as_it_was_sent(lake: Lake) -> None:
    sent = {
        "event_id": "e1", "refund_id": "r1", "charge_id": "c1", "provider": "Adyen",
        "amount": 1250, "reason": "Customer Request", "status": None, "metadata": TICKET,
        "created_at": "2024-03-01T10:00:00+02:00",
    }  # fmt: skip
    (row,) = parsed(lake, payment_refunds, json.dumps(sent).encode())
    assert {n: row[n] for n in sent} == sent | {
        "amount": Decimal("1250.00"), "created_at": datetime(2024, 3, 1, 8, tzinfo=timezone.utc),
    }  # fmt: skip
    assert row["_error"] is None and row["_payload"] is None


def test_a_duplicate_a_null_and_wrong_types_are_a_row_each(lake: Lake) -> None:
    good, wrong = b'{"event_id": "e0"}', b'{"metadata": "none"}'
    found = parsed(lake, payment_refunds, good, good, None, wrong)
    assert [(r["event_id"], r["_error"]) for r in found] == [
        ("e0", None), ("e0", None), (None, "null value"), (None, "wrong type"),
    ]  # fmt: skip


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    clean: Row = {"status": "succeeded", "reason": "duplicate", "metadata": TICKET}
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "status_present": clean | {"status": "NULL"},
        "reason_vocabulary": clean | {"reason": "Duplicate Charge"},
        "support_ticket_present": clean | {"metadata": TICKET | {"support_ticket_id": None}},
    }
    assert broken_rules(lake, PaymentRefunds, clean, *dirty.values()) == ["", *dirty]
