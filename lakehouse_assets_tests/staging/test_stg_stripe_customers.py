"""staging.stg_stripe_customers: a customer once, gone if they were ever deleted."""

import json
from datetime import timedelta
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_stripe_customers import stg_stripe_customers
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE

SECOND = timedelta(seconds=1)
AT_S = int(AT.timestamp())
CUSTOMER = {
    "id": "cus_1", "email": "Anna@Example.com", "phone": None, "name": " Anna B", "currency": "eur",
    "address": {"city": "Köln", "country": "Germany"}, "created": AT_S,
}  # fmt: skip


def event(at: int = 0, type: str = "customer.updated", **thing: Any) -> Row:
    return {"type": type, "created": AT_S + at, "data": json.dumps({"object": CUSTOMER | thing})}


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_stripe_customers, {"arrived_at": AT + MINUTE}, *given)


def test_a_customer_is_read_from_the_events_json(lake: Lake) -> None:
    (row,) = staged(lake, event(1))
    assert {name: value for name, value in row.items() if value is not None} == {
        "customer_id": "cus_1", "email": "Anna@Example.com", "full_name": "Anna B",
        "country": "DE", "city": "Köln", "currency": "EUR", "created_at": AT,
        "updated_at": AT + SECOND, "is_deleted": False, "arrived_at": AT + MINUTE,
    }  # fmt: skip


def test_the_newest_event_stands_and_of_one_second_the_greater_content(lake: Lake) -> None:
    (row,) = staged(lake, event(2, phone="2"), event(2, phone="1"), event(1, phone="9"))
    assert row["phone"] == "2"


def test_a_deletion_is_final_and_keeps_id_and_times(lake: Lake) -> None:
    gone, later = event(1, "customer.deleted"), event(2)
    for given in ([gone, later], [later, gone]):
        (row,) = staged(lake, *given)
        kept = {n: v for n, v in row.items() if v is not None and n != "arrived_at"}
        assert kept == {"customer_id": "cus_1", "created_at": AT, "updated_at": AT + SECOND,
                        "is_deleted": True}  # fmt: skip


def test_nobody_and_never_are_refused(lake: Lake) -> None:
    refused = [event(id=None), event(created="soon"), event() | {"created": None},
               event(86_400), event() | {"data": "none"},
               event() | {"_error": "wrong type"}]  # fmt: skip
    assert staged(lake, *refused) == []
