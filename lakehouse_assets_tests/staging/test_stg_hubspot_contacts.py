"""staging.stg_hubspot_contacts: a contact folded from what is known of them."""

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_hubspot_contacts import stg_hubspot_contacts
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE


def fact(name: str, value: str | None = None, minutes: int = 0) -> Row:
    return {"fact": name, "value": value, "occurred_at": AT + minutes * MINUTE}


def folded(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_hubspot_contacts, {"contact_id": "9"}, *given)


def told(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


KNOWN = [
    fact("event.creation"), fact("property.email", "anna@example.com", 3),
    fact("property.firstname", "Anna"), fact("property.phone", None, 2),
    fact("property.country", "germany"), fact("property.hs_score", "7", 4),
    fact("association.primary_company", "3"),
]  # fmt: skip


def test_a_contact_is_folded_fact_by_fact(lake: Lake) -> None:
    other = fact("property.company", "ACME") | {"contact_id": "8"}
    first, second = folded(lake, *KNOWN, other)
    assert told(second) == {
        "contact_id": "9", "email": "anna@example.com", "first_name": "Anna", "country": "DE",
        "company_id": "3", "created_at": AT, "updated_at": AT + 4 * MINUTE, "is_deleted": False,
    }  # fmt: skip
    assert told(first) == {"contact_id": "8", "company_name": "ACME", "updated_at": AT,
                           "is_deleted": False}  # fmt: skip


def test_the_newest_of_creation_deletion_and_restoration_decides(lake: Lake) -> None:
    gone, back = fact("event.deletion", None, 5), fact("event.restore", None, 6)
    (row,) = folded(lake, *KNOWN, gone)
    assert told(row) == {"contact_id": "9", "created_at": AT, "updated_at": AT + 5 * MINUTE,
                         "is_deleted": True}  # fmt: skip
    (row,) = folded(lake, *KNOWN, gone, back)
    assert (row["is_deleted"], row["email"]) == (False, "anna@example.com")
    (row,) = folded(lake, *KNOWN, back, fact("event.privacyDeletion", None, 6))
    assert row["is_deleted"], "at one moment the deletion counts"


def test_a_late_deletion_that_is_older_than_the_restoration_changes_nothing(lake: Lake) -> None:
    (row,) = folded(lake, *KNOWN, fact("event.restore", None, 2), fact("event.deletion", None, 1))
    assert not row["is_deleted"]
