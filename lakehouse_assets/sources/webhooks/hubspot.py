"""HubSpot's webhooks: arrays of events, each a creation, a deletion or one property's new value.

A creation says nothing but that there is something: what it is comes as changes of its properties.
"""

from collections.abc import Iterable

from lakehouse_assets.sources.event import CLEAN
from lakehouse_assets.sources.webhooks.account import Account
from lakehouse_assets.sources.webhooks.people import Company
from lakehouse_assets.sources.webhooks.request import JSON_HEADERS, Json, Known, Request, text

PORTAL, APP = 48_202_611, 3_417_926
SUBSCRIPTIONS = {
    f"{thing}.{what}": 2_100_000 + number
    for number, (thing, what) in enumerate(
        (thing, what)
        for thing in ("contact", "company", "deal")
        for what in ("creation", "deletion", "propertyChange", "associationChange")
    )
}
INDUSTRIES = ("RETAIL", "COMPUTER_SOFTWARE", "CONSTRUCTION")
STAGES = ("subscriber", "lead", "marketingqualifiedlead", "opportunity", "customer")
PROPERTIES = {"email": "email", "phone": "phone", "first_name": "firstname",
              "last_name": "lastname"}  # fmt: skip


def request(
    events: list[Json], about: str, known: Known | None = None, kind: str = CLEAN
) -> Request:
    ids = tuple(str(event["eventId"]) for event in events)
    first = events[0]["subscriptionType"]
    return Request("hubspot", JSON_HEADERS, text(events), first, ids, about, known, kind)


def event(kind: str, number: int, object_id: int, at: int) -> Json:
    return {
        "eventId": number, "subscriptionId": SUBSCRIPTIONS[kind], "portalId": PORTAL,
        "appId": APP, "occurredAt": at, "subscriptionType": kind, "attemptNumber": 0,
        "objectId": object_id, "changeSource": "CRM_UI",
    }  # fmt: skip


def creation(kind: str, number: int, object_id: int, at: int) -> Json:
    return event(kind, number, object_id, at) | {"changeFlag": "CREATED"}


def deletion(kind: str, number: int, object_id: int, at: int) -> Json:
    return event(kind, number, object_id, at) | {"changeFlag": "DELETED"}


def changed(kind: str, number: int, object_id: int, at: int, name: str, value: str) -> Json:
    made = event(kind, number, object_id, at)
    made["propertyName"], made["propertyValue"] = name, value
    return made


def associated(number: int, contact: int, company: int, at: int, is_over: bool) -> Json:
    """It has no `objectId`: it is about two things."""
    made = event("contact.associationChange", number, contact, at)
    del made["objectId"]
    return made | {
        "associationType": "CONTACT_TO_COMPANY", "fromObjectId": contact, "toObjectId": company,
        "associationRemoved": is_over, "isPrimaryAssociation": True,
    }  # fmt: skip


def properties(account: Account) -> Iterable[tuple[str, str]]:
    """What a new contact is told to be; what it lacks is not mentioned."""
    person = account.person
    said = (
        ("email", account.email), ("firstname", account.first_name),
        ("lastname", account.last_name), ("phone", account.phone),
        ("country", person.country.name), ("city", account.place[0]),
        ("lifecyclestage", STAGES[person.own.rest.count("7") % len(STAGES)]),
        ("company", person.company and person.company.name),
    )  # fmt: skip
    return ((name, value) for name, value in said if value)


def company_properties(company: Company) -> Iterable[tuple[str, str]]:
    yield from (
        ("name", company.name), ("domain", company.domain),
        ("country", company.phone.country.name), ("phone", company.phone.e164()),
        ("industry", INDUSTRIES[company.serial % 3]),
        ("numberofemployees", str(8 + company.serial % 90)),
    )  # fmt: skip
