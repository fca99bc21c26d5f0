"""staging.stg_payment_disputes: an event once, its newest version, cleaned."""

from datetime import timedelta
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_disputes import stg_payment_disputes
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

WHO = {"submitted_by": "merchant", "document_count": 3}
CLEAN: Row = {
    "event_id": "e1", "dispute_id": "d1", "charge_id": "c1", "provider": "STRIPE",
    "amount": Decimal(950), "status": "needs_response", "currency": "EUR", "reason": "duplicate",
    "case_number": "CB-2026-000001", "evidence": {"receipt_id": "r1", "metadata": WHO},
    "created_at": AT, "updated_at": AT, "arrived_at": AT,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_disputes, CLEAN, *given)


def test_a_clean_dispute_is_laid_flat_and_not_dirty(lake: Lake) -> None:
    (row,) = staged(lake, {})
    expected = {
        "case_number": "CB-2026-000001", "customer_communication": None, "receipt_id": "r1",
        "evidence_submitted_by": "merchant", "evidence_document_count": 3, "is_dirty": False,
    }  # fmt: skip
    assert {n: row[n] for n in expected} == expected


def test_spelled_nothing_and_broken_case_numbers_become_null(lake: Lake) -> None:
    found = staged(
        lake,
        {"event_id": "e1", "case_number": "CB-2026"},
        {"event_id": "e2", "case_number": "none"},
        {"event_id": "e3", "evidence": None, "case_number": None},
        {"event_id": "e4", "evidence": {"metadata": {"submitted_by": "NULL"}}, "reason": None},
        {"event_id": "e5", "currency": " eur ", "reason": "Duplicate"},
        {"event_id": "e6", "case_number": "CB-2026-000001\n"},
        {"event_id": "e7", "case_number": "CB-\u0662\u0660\u0662\u0666-000001"},
    )
    columns = ("case_number", "evidence_submitted_by", "currency", "reason", "is_dirty")
    assert [tuple(r[c] for c in columns) for r in found] == [
        (None, "merchant", "EUR", "duplicate", True),
        (None, "merchant", "EUR", "duplicate", True),
        (None, None, "EUR", "duplicate", False),
        ("CB-2026-000001", None, "EUR", None, True),
        ("CB-2026-000001", "merchant", "EUR", "duplicate", True),
        (None, "merchant", "EUR", "duplicate", True),
        (None, "merchant", "EUR", "duplicate", True),
    ]


def test_an_event_stands_once_in_its_newest_version_however_late(lake: Lake) -> None:
    late = {"arrived_at": AT + timedelta(days=3)}
    found = staged(
        lake,
        {"updated_at": AT + MINUTE, "status": "won"},
        {"updated_at": AT + MINUTE, "status": "won"} | late,
        {"status": "under_review"} | late,
        {"event_id": "e2", "status": "lost"},
        {"event_id": "e2", "status": "won"},
    )
    assert [(r["event_id"], r["provider_status"], r["arrived_at"]) for r in found] == [
        ("e1", "won", AT), ("e2", "won", AT),
    ]  # fmt: skip


def test_what_breaks_a_rule_is_refused_and_what_is_odd_is_not(lake: Lake) -> None:
    refused: list[Row] = [
        {"event_id": ""}, {"dispute_id": None}, {"charge_id": "null"}, {"provider": None},
        {"amount": Decimal(-1)}, {"amount": None}, {"currency": None}, {"currency": "XXX"},
        {"status": None}, {"provider": "PayPal"}, {"created_at": FAR}, {"_error": "wrong type"},
    ]  # fmt: skip
    good: list[Row] = [
        {"evidence": None}, {"case_number": "CB-"}, {"reason": "whim"}, {"evidence_due_at": FAR},
        {"charge_id": "nobody knows"}, {"status": "a word of next year"},
    ]  # fmt: skip
    events.kept(lake, stg_payment_disputes, CLEAN, refused, good)
