"""staging.stg_hubspot_companies: a company folded from what is known of it."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_hubspot_companies import stg_hubspot_companies
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE


def fact(name: str, value: str | None = None, minutes: int = 0) -> Row:
    return {"fact": name, "value": value, "occurred_at": AT + minutes * MINUTE}


def folded(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_hubspot_companies, {"company_id": "3"}, *given)


def told(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def test_a_company_is_folded_fact_by_fact(lake: Lake) -> None:
    (row,) = folded(
        lake, fact("event.creation"), fact("property.name", "ACME"), fact("property.domain", None),
        fact("property.country", "United States"), fact("property.numberofemployees", "42", 3),
    )  # fmt: skip
    assert told(row) == {
        "company_id": "3", "company_name": "ACME", "country": "US", "employee_count": 42,
        "created_at": AT, "updated_at": AT + 3 * MINUTE, "is_deleted": False,
    }  # fmt: skip


@pytest.mark.parametrize("said", ["many", "-1", "1.5", "1234567890", None])
def test_a_number_of_employees_that_is_none_is_nothing(lake: Lake, said: str | None) -> None:
    (row,) = folded(lake, fact("property.numberofemployees", said))
    assert row["employee_count"] is None and not row["is_deleted"]


def test_of_one_that_was_deleted_id_and_times_are_kept(lake: Lake) -> None:
    name, gone = fact("property.name", "ACME", 9), fact("event.deletion", None, 5)
    (row,) = folded(lake, name, gone)
    assert told(row) == {"company_id": "3", "updated_at": AT + 9 * MINUTE, "is_deleted": True}
    (row,) = folded(lake, name, gone, fact("event.restore", None, 6))
    assert row["company_name"] == "ACME"
