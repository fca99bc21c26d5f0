from datetime import datetime, timedelta, timezone
from decimal import Decimal
from random import Random

import pytest

from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments
from lakehouse_assets.sources.payments.truth import delivered, expected
from lakehouse_assets.sources.payments.truth.disputes import DISPUTES, LAST_WORD, LIFECYCLE, tables
from lakehouse_assets.sources.payments.truth.raw import Row

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


def lifecycle(*said: tuple[float, str]) -> Row:
    """Of a dispute's events: seconds after noon, and Adyen's word."""
    events = [
        dict.fromkeys(LAST_WORD)
        | {
            "dispute_id": "d1", "event_id": f"e{n}", "provider": "ADYEN", "currency": "EUR",
            "provider_amount": Decimal("12.50"), "provider_status": word.lower(),
            "updated_at": NOON + timedelta(seconds=second),
        }
        for n, (second, word) in enumerate(said)
    ]  # fmt: skip
    (row,) = tables({DISPUTES: events})[LIFECYCLE]
    return row


@pytest.mark.parametrize(
    ("words", "steps", "illegal"),
    [
        (("Undefended", "Pending", "Won"), "needs_response>under_review>won", 0),
        (("Undefended", "Undefended"), "needs_response", 0),
        (("RequestForInformation", "Pending"), "warning>under_review", 1),
        (("Lost", "Won"), "lost>won", 2),
        (("needs_response", "Undefended"), "needs_response", 0),  # the first is Stripe's
        (("",), None, 0),
    ],
)
def test_words_become_a_path_whose_illegal_steps_are_counted(
    words: tuple[str, ...], steps: str | None, illegal: int
) -> None:
    row = lifecycle(*enumerate(words))
    assert (row["steps"], row["illegal_transitions"]) == (steps, illegal)


def test_stays_that_ended_are_counted_in_whole_seconds() -> None:
    row = lifecycle((0, "Undefended"), (1.6, "Pending"), (3, "Undefended"), (4.6, "Pending"))
    assert (row["warning_s"], row["needs_response_s"], row["under_review_s"]) == (None, 3, 1)
    assert (row["amount"], row["amount_minor"]) == (Decimal("0.13"), 13)
    assert row["closed_at"] is None


def test_some_disputes_are_illegal_but_fewer_than_the_check_allows() -> None:
    events = list(payments(8, 4_000, FIRST_DAY, Dirt(oversized=0), only=("payment_disputes",)))
    records = delivered(events, FIRST_DAY + timedelta(days=1))
    found = expected(records)[LIFECYCLE]
    assert 0 < sum(row["is_illegal"] for row in found) < len(found) / 10
    Random(1).shuffle(records)
    assert expected(records)[LIFECYCLE] == found
