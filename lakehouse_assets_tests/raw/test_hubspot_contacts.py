"""raw.hubspot_contacts: every event one row, under names of our own."""

import json

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.hubspot_contacts import HubspotContacts, hubspot_contacts
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.raw.webhooks import CAME, has_columns_for_all, read
from lakehouse_assets_tests.support import broken_rules

EVENT = {
    "eventId": 7, "subscriptionType": "contact.propertyChange", "occurredAt": 1_777_896_000_123,
    "objectId": 9, "propertyName": "email", "propertyValue": "", "attemptNumber": 0,
}  # fmt: skip
GOOD: Row = CAME | {"object_id": "9"}


def test_a_change_of_a_property_is_typed(lake: Lake) -> None:
    (row,) = read(lake, hubspot_contacts, EVENT)
    assert (row["event_id"], row["object_id"], row["property_value"]) == ("7", "9", "")
    assert (row["occurred_at_ms"], row["attempt_number"]) == (1_777_896_000_123, 0)
    assert (row["_error"], row["_payload"]) == (None, None)


def test_an_association_names_two_and_no_object(lake: Lake) -> None:
    tie = {"subscriptionType": "contact.associationChange", "associationType": "CONTACT_TO_COMPANY",
           "fromObjectId": 9, "toObjectId": 3, "associationRemoved": False,
           "isPrimaryAssociation": True, "occurredAt": 1}  # fmt: skip
    (row,) = read(lake, hubspot_contacts, tie)
    assert (row["object_id"], row["from_object_id"], row["to_object_id"]) == (None, "9", "3")
    assert (row["is_association_removed"], row["is_primary_association"]) == (False, True)


def test_hubspots_events_have_a_column_for_each_field(lake: Lake) -> None:
    made = requests(7, 400, FIRST_DAY, Dirt.only())
    events = next(json.loads(r.body) for r in made if r.topic == "contact.creation")
    for said in events:
        has_columns_for_all(lake, hubspot_contacts, said)
        assert set(said) <= set(HubspotContacts.fields()), "so that nothing is stored twice"


def test_what_is_of_another_type_is_an_error(lake: Lake) -> None:
    wrong: list[Row] = [{"occurredAt": "yesterday"}, {"associationRemoved": "no"}]
    found = read(lake, hubspot_contacts, *[EVENT | one for one in wrong])
    assert [(row["_error"], row["event_id"]) for row in found] == [("wrong type", None)] * 2


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "came_through_the_door": {"object_id": "9"},
        "has_a_subject": CAME,
    }
    good = [GOOD, CAME | {"from_object_id": "9"}]
    assert broken_rules(lake, HubspotContacts, *good, *dirty.values()) == ["", "", *dirty]
