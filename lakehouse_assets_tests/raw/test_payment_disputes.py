"""raw.payment_disputes: every record one row, as it was sent."""

import json
from datetime import datetime, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_disputes import PaymentDisputes, payment_disputes
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

WHO = {"submitted_by": "merchant", "document_count": 3}
EVIDENCE = {"customer_communication": "letter", "receipt_id": "r1", "metadata": WHO}


def test_evidence_is_kept_two_objects_deep(lake: Lake) -> None:
    sent = {
        "event_id": "e1", "dispute_id": "d1", "charge_id": "c1", "currency": None,
        "case_number": "CB-2026", "evidence": EVIDENCE, "evidence_due_at": "2024-03-15T10:00:00Z",
    }  # fmt: skip
    (row,) = parsed(lake, payment_disputes, json.dumps(sent).encode())
    due = {"evidence_due_at": datetime(2024, 3, 15, 10, tzinfo=timezone.utc)}
    assert {n: row[n] for n in sent} == sent | due
    assert row["_error"] is None and row["_payload"] is None


def test_unknown_fields_are_noticed_at_every_depth(lake: Lake) -> None:
    def sent(**extra: object) -> bytes:
        return json.dumps({"event_id": "e1", "evidence": EVIDENCE | extra}).encode()

    values = [sent(), sent(pages=3), sent(metadata=WHO | {"pages": 3}), sent(metadata=None)]
    found = parsed(lake, payment_disputes, *values)
    assert [r["_payload"] for r in found] == [None, values[1], values[2], None]


def test_a_duplicate_a_null_and_wrong_types_are_a_row_each(lake: Lake) -> None:
    good, wrong = b'{"event_id": "e0"}', b'{"evidence": {"metadata": {"document_count": "3"}}}'
    found = parsed(lake, payment_disputes, good, good, None, wrong)
    assert [(r["event_id"], r["_error"]) for r in found] == [
        ("e0", None), ("e0", None), (None, "null value"), (None, "wrong type"),
    ]  # fmt: skip


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    clean: Row = {"currency": "EUR", "case_number": "CB-2026-000001", "evidence": EVIDENCE}
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "evidence_metadata_present": clean
        | {"evidence": EVIDENCE | {"metadata": WHO | {"submitted_by": "NULL"}}},
        "currency_present": clean | {"currency": "null"},
        "case_numbers_whole": clean | {"case_number": "CB-2026"},
    }
    for nothing in ({"evidence": None}, {"case_number": None}, {"currency": None}):
        assert broken_rules(lake, PaymentDisputes, clean | nothing) != [""]
    assert broken_rules(lake, PaymentDisputes, clean, *dirty.values()) == ["", *dirty]
