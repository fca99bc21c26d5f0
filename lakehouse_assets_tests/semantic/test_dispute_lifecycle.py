"""semantic.dispute_lifecycle: a dispute's way through the states, whatever its events are like."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.dispute_lifecycle import (
    DisputeLifecycle,
    dispute_lifecycle,
)
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments
from lakehouse_assets.sources.payments.truth import delivered, expected
from lakehouse_assets.sources.payments.truth.disputes import DISPUTES, LIFECYCLE
from lakehouse_assets.staging.stg_payment_disputes import StgPaymentDisputes
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import broken_rules, rows, same_rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)


def event(id: str, dispute: str, minute: float, status: str, **more: object) -> Row:
    """An event of a dispute about five euros, changed some minutes after ten."""
    return {
        "event_id": id, "dispute_id": dispute, "provider": "STRIPE", "charge_id": "c1",
        "provider_amount": Decimal(500), "currency": "EUR", "provider_status": status,
        "created_at": AT, "updated_at": AT + minute * MINUTE, "arrived_at": AT, **more,
    }  # fmt: skip


def made(lake: Lake, *events: Row) -> list[Row]:
    return result(dispute_lifecycle, events=rows(lake.spark, StgPaymentDisputes, *events))


def told(row: Row, *columns: str) -> tuple[object, ...]:
    return tuple(row[name] for name in columns)


def test_a_dispute_is_one_path_with_the_seconds_spent_in_each_state(lake: Lake) -> None:
    (won, alone) = made(
        lake,
        event("e1", "d1", 0, "warning_needs_response"),
        event("e2", "d1", 1, "needs_response"),
        event("e3", "d1", 3, "under_review", arrived_at=AT + timedelta(days=3)),  # late
        event("e4", "d1", 3.999999, "won"),
        event("e5", "d2", 0, "needs_response"),
    )
    assert told(won, "steps", "status", "transitions", "illegal_transitions", "is_illegal") == (
        "warning>needs_response>under_review>won", "won", 4, 0, False,
    )  # fmt: skip
    assert told(won, "warning_s", "needs_response_s", "under_review_s") == (60, 120, 59)
    assert told(won, "opened_at", "closed_at") == (AT, AT + 3.999999 * MINUTE)
    assert told(alone, "steps", "closed_at", "needs_response_s") == ("needs_response", None, None)


def test_events_of_the_same_state_are_no_step_and_stays_add_up(lake: Lake) -> None:
    (row,) = made(
        lake,
        event("e1", "d1", 0, "warning_needs_response"),
        event("e2", "d1", 1, "warning_under_review"),  # the same to us
        event("e3", "d1", 2, "needs_response"),
        event("e4", "d1", 2.5, "needs_response"),
        event("e5", "d1", 3, "under_review"),
        event("e6", "d1", 5, "needs_response"),  # back: it may not
        event("e7", "d1", 6, "lost"),
        event("e8", "d1", 7, "lost"),
    )
    assert row["steps"] == "warning>needs_response>under_review>needs_response>lost"
    assert told(row, "events", "transitions", "illegal_transitions", "is_illegal") == (
        8,
        5,
        1,
        True,
    )
    assert told(row, "warning_s", "needs_response_s", "under_review_s") == (120, 120, 120)
    assert told(row, "closed_at", "updated_at") == (AT + 6 * MINUTE, AT + 7 * MINUTE)


def test_illegal_steps_are_kept_and_counted(lake: Lake) -> None:
    words = {
        "d1": ("under_review", "won"),  # its begin is not known
        "d2": ("needs_response", "lost", "won", "under_review"),
        "d3": ("warning_closed",),
        "d4": ("needs_response", "won"),
    }
    events = [event(f"{d} {n}", d, n, said) for d in words for n, said in enumerate(words[d])]
    found = [told(r, "steps", "illegal_transitions", "is_illegal") for r in made(lake, *events)]
    assert found == [
        ("under_review>won", 1, True),
        ("needs_response>lost>won>under_review", 2, True),
        ("warning_closed", 1, True),
        ("needs_response>won", 0, False),
    ]


def test_a_word_that_nobody_knows_is_counted_and_moves_nothing(lake: Lake) -> None:
    first, odd = made(
        lake,
        event("e1", "d1", 0, "needs_response"),
        event("e2", "d1", 1, "gone fishing"),
        event("e3", "d1", 2, "needs_response"),
        event("e4", "d1", 4, "won"),
        event("e5", "d1", 5, "open"),  # another provider's word
        event("e6", "d2", 0, "gone fishing"),
    )
    shown = ("steps", "status", "provider_status", "unknown_statuses", "transitions")
    assert told(first, *shown) == ("needs_response>won", "won", "open", 2, 2)
    assert told(first, "needs_response_s", "closed_at") == (240, AT + 4 * MINUTE)
    assert told(odd, *shown) == (None, None, "gone fishing", 1, 0)
    assert told(odd, "is_illegal", "opened_at", "closed_at") == (False, AT, None)


def test_the_last_word_stands_and_of_one_instant_the_greater_event_in_any_order(lake: Lake) -> None:
    tied = [
        event("e1", "d1", 0, "needs_response", charge_id="c0", case_number="CB-2026-000001"),
        event("e2", "d1", 1, "under_review"),
        event("e3", "d1", 1, "disputed", provider="BRAINTREE", currency="JPY", charge_id="c9",
              provider_amount=Decimal("1250.00"), reason="general"),
    ]  # fmt: skip
    (row,) = made(lake, *tied)
    assert [row] == made(lake, *reversed(tied))
    assert told(row, "event_id", "charge_id", "provider", "case_number", "reason") == (
        "e3", "c9", "BRAINTREE", None, "general",
    )  # fmt: skip
    assert told(row, "currency", "amount", "amount_minor") == ("JPY", Decimal("1250.00"), 1250)
    assert told(row, "steps", "needs_response_s") == ("needs_response>under_review", 60)


def test_evidence_is_late_when_its_review_began_after_it_was_due(lake: Lake) -> None:
    due = AT + 5 * MINUTE
    began = {"d1": (5, due), "d2": (6, due), "d3": (6, None), "d4": (None, AT)}
    events: list[Row] = []
    for name, (minute, last_said) in began.items():
        events.append(event(f"{name} 1", name, 0, "needs_response", evidence_due_at=AT))
        if minute is not None:
            events.append(event(f"{name} 2", name, minute, "under_review"))
        events.append(event(f"{name} 3", name, 9, "lost", evidence_due_at=last_said))
    found = [told(row, "evidence_due_at", "is_evidence_late") for row in made(lake, *events)]
    assert found == [(due, False), (due, True), (None, None), (AT, None)]


def test_illegal_steps_and_unknown_words_show_in_checks(lake: Lake) -> None:
    (good,) = made(lake, event("e1", "d1", 0, "needs_response"))
    illegal = good | {"illegal_transitions": 1, "is_illegal": True}
    unknown = good | {"unknown_statuses": 1, "status": None}
    named = ["", "transitions_legal", "statuses_known"]
    assert broken_rules(lake, DisputeLifecycle, good, illegal, unknown) == named


def test_dirty_disputes_become_the_truth(lake: Lake) -> None:
    dirt = Dirt(illegal_step=0.1, tie_state=0.05, tie_event=0.05, redelivery=0.05, oversized=0)
    events = payments(5, 3_000, FIRST_DAY, dirt, only=("payment_disputes",))
    truth = expected(delivered(events, FIRST_DAY + timedelta(days=1)))
    same_rows(made(lake, *truth[DISPUTES]), truth[LIFECYCLE])
    assert any(row["is_illegal"] for row in truth[LIFECYCLE])
