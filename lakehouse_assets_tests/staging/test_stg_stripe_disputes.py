"""staging.stg_stripe_disputes: a dispute once, as of its newest event."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_stripe_disputes import stg_stripe_disputes
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE

SECOND = timedelta(seconds=1)
AT_S = int(AT.timestamp())
DISPUTE = {"id": "dp_1", "charge": "ch_1", "amount": 1999, "currency": "eur", "created": AT_S,
           "reason": "fraudulent", "status": "needs_response"}  # fmt: skip
CLEAN: Row = {"_vendor": "stripe", "_webhook_topic": "charge.dispute.created",
              "arrived_at": AT + MINUTE}  # fmt: skip


def event(at: int = 0, **thing: Any) -> Row:
    return {"created": str(AT_S + at), "data": json.dumps({"object": DISPUTE | thing})}


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_stripe_disputes, CLEAN, *given)


def test_the_newest_event_stands(lake: Lake) -> None:
    closed = event(9, status="Lost") | {"_webhook_topic": "charge.dispute.closed"}
    (row,) = staged(lake, closed, event(), event())
    assert row == {
        "dispute_id": "dp_1", "charge_id": "ch_1", "amount": Decimal("19.99"), "currency": "EUR",
        "reason": "fraudulent", "status": "lost", "created_at": AT, "updated_at": AT + 9 * SECOND,
        "arrived_at": AT + MINUTE,
    }  # fmt: skip


def test_what_tells_no_dispute_is_refused_and_other_events_are_none(lake: Lake) -> None:
    refused = [
        event(id=None), event(charge=None), event(amount=None), event(amount=-1),
        event(currency="euro"), event(status=None), event(created=None),
        event() | {"created": "soon"}, event(86_400), event() | {"data": None},
        event() | {"_error": "malformed"},
    ]  # fmt: skip
    others = [event() | {"_webhook_topic": "payout.paid"}, event() | {"_vendor": "shopify"},
              event() | {"_webhook_topic": None}]  # fmt: skip
    assert staged(lake, *refused, *others) == []
