"""staging.stg_hubspot_company_facts: each fact about a company once, as it last was."""

from datetime import timedelta
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_hubspot_company_facts import stg_hubspot_company_facts
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE

MS = timedelta(milliseconds=1)
AT_MS = int(AT.timestamp()) * 1_000
CLEAN: Row = {"object_id": "9", "arrived_at": AT + MINUTE}


def event(at: int = 0, kind: str = "company.propertyChange", **said: Any) -> Row:
    return {"occurred_at_ms": AT_MS + at, "subscription_type": kind, **said}


def changed(at: int, value: str | None, name: str = "country") -> Row:
    return event(at, property_name=name, property_value=value)


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_hubspot_company_facts, CLEAN, *given)


def facts(lake: Lake, *given: Row) -> dict[str, Any]:
    return {row["fact"]: (row["occurred_at"], row["value"]) for row in staged(lake, *given)}


def test_of_each_property_the_newest_value_stands_then_the_greater(lake: Lake) -> None:
    told = [changed(2, "b"), changed(1, "z"), changed(2, "c"), changed(2, None), changed(2, "c")]
    assert facts(lake, *told) == {"property.country": (AT + 2 * MS, "c")}
    assert facts(lake, *told, changed(3, " ")) == {"property.country": (AT + 3 * MS, None)}


def test_what_happened_is_a_fact_by_its_kind_and_no_property_can_be_taken_for_it(
    lake: Lake,
) -> None:
    told = [event(1, "company.creation"), event(5, "object.deletion"), event(3, "company.deletion"),
            event(4, "company.merge"), changed(2, "x", "deletion"), event(6, "odd")]  # fmt: skip
    assert facts(lake, *told) == {
        "event.creation": (AT + MS, None), "event.deletion": (AT + 5 * MS, None),
        "event.merge": (AT + 4 * MS, None), "property.deletion": (AT + 2 * MS, "x"),
        "event.": (AT + 6 * MS, None),
    }  # fmt: skip


def test_an_event_of_nothing_or_of_no_time_is_refused(lake: Lake) -> None:
    refused = [
        changed(1, "a") | {"object_id": None}, changed(1, "a") | {"occurred_at_ms": None},
        changed(86_400_000, "a"), changed(AT_MS * 1_000, "a"),
        changed(1, "a") | {"_error": "wrong type"},
    ]  # fmt: skip
    assert staged(lake, *refused) == []
