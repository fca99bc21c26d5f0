"""staging.stg_stripe_charges: a charge once, as of its newest event, in units of its currency."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_stripe_charges import stg_stripe_charges
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE

SECOND = timedelta(seconds=1)
AT_S = int(AT.timestamp())
CHARGE = {
    "id": "ch_1", "customer": "cus_1", "payment_intent": "pi_1", "amount": 1999,
    "amount_refunded": 0, "application_fee_amount": 88, "currency": "eur", "status": "Succeeded",
    "paid": True, "refunded": False, "disputed": None, "created": AT_S,
    "billing_details": {"email": "Anna@Example.com", "address": {"city": "Köln"}},
    "payment_method_details": {"card": {"brand": "Visa", "last4": "0042", "country": "DE"}},
}  # fmt: skip


def event(at: int = 0, **thing: Any) -> Row:
    return {"created": AT_S + at, "data": json.dumps({"object": CHARGE | thing})}


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_stripe_charges, {"arrived_at": AT + MINUTE}, *given)


def test_a_charge_is_read_from_its_events_json(lake: Lake) -> None:
    (row,) = staged(lake, event())
    assert {name: value for name, value in row.items() if value is not None} == {
        "charge_id": "ch_1", "customer_id": "cus_1", "payment_intent_id": "pi_1",
        "amount": Decimal("19.99"), "refunded_amount": Decimal("0.00"),
        "fee_amount": Decimal("0.88"), "currency": "EUR", "status": "succeeded", "is_paid": True,
        "is_refunded": False, "is_disputed": False, "email": "anna@example.com",
        "card_brand": "visa", "card_last4": "0042", "card_country": "DE", "created_at": AT,
        "updated_at": AT, "arrived_at": AT + MINUTE,
    }  # fmt: skip


def test_yen_have_no_cents(lake: Lake) -> None:
    (row,) = staged(lake, event(currency="jpy", application_fee_amount=None))
    assert (row["amount"], row["fee_amount"]) == (Decimal("1999.00"), None)


def test_the_newest_event_stands_whatever_came_last(lake: Lake) -> None:
    back = event(9, refunded=True, amount_refunded=1999)
    (row,) = staged(lake, back, event(), event())
    assert row["is_refunded"] and row["updated_at"] == AT + 9 * SECOND


def test_what_is_of_another_kind_is_nothing(lake: Lake) -> None:
    odd = event(paid="yes", amount_refunded="7", billing_details="none",
                payment_method_details={"card": [1]}, customer={"id": "cus_1"})  # fmt: skip
    (row,) = staged(lake, odd)
    assert not row["is_paid"]
    empty = ("refunded_amount", "email", "card_brand", "card_last4", "card_country")
    assert [row[name] for name in empty] == [None] * len(empty)
    assert (row["customer_id"], row["amount"]) == ('{"id":"cus_1"}', Decimal("19.99"))


def test_a_charge_that_tells_too_little_is_refused(lake: Lake) -> None:
    refused = [
        event(id=None), event(amount=None), event(amount="1999"), event(amount=-1),
        event(amount=19.5), event(currency=None), event(currency="euro"), event(status=""),
        event(created=None), event(created=AT_S * 1_000_000), event() | {"created": None},
        event(86_400 * 365), event() | {"data": None}, event() | {"data": "7"},
        event() | {"_error": "malformed"},
    ]  # fmt: skip
    assert staged(lake, *refused) == []
