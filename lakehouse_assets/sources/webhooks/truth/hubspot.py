"""What staging makes of HubSpot's events: facts, and a contact or company folded from its facts.

An event is one fact about its subject: a property's value; that the primary company is another; or
that something happened, by its kind. Of each fact the newest stands, by `occurredAt`, then by the
value; a property that was emptied is NULL. It is deleted if the newest of its creations,
restorations and deletions is a deletion; then nothing but its id and times is kept. It was created
when its newest creation says, for that happens once, and updated when the newest fact says,
whatever that is about.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from lakehouse_assets.sources.webhooks.truth.values import Row, after_epoch, country, text

CONTACT_FACTS = "staging.stg_hubspot_contact_facts"
COMPANY_FACTS = "staging.stg_hubspot_company_facts"
CONTACTS, COMPANIES = "staging.stg_hubspot_contacts", "staging.stg_hubspot_companies"

MILLISECOND = timedelta(milliseconds=1)
LIFE = {"event.creation": False, "event.restore": False, "event.deletion": True,
        "event.privacyDeletion": True}  # fmt: skip
COMPANY = "association.primary_company"
CONTACT_COLUMNS = {
    "email": "email", "phone": "phone", "firstname": "first_name", "lastname": "last_name",
    "country": "country", "city": "city", "company": "company_name", "jobtitle": "job_title",
    "lifecyclestage": "lifecycle_stage",
}  # fmt: skip
COMPANY_COLUMNS = {
    "name": "company_name", "domain": "domain", "country": "country", "phone": "phone",
    "industry": "industry", "numberofemployees": "employee_count",
}  # fmt: skip


def contact_fact(said: Row) -> Row:
    return _fact("contact_id", said)


def company_fact(said: Row) -> Row:
    return _fact("company_id", said)


def _fact(key: str, said: Row) -> Row:
    """An association is about two things: the one it goes out from counts."""
    name, value = _told(said)
    return {
        key: text(said["object_id"]) or text(said["from_object_id"]),
        "fact": name,
        "occurred_at": after_epoch(said["occurred_at_ms"], MILLISECOND),
        "value": value,
    }


def _told(said: Row) -> tuple[str, str | None]:
    kind = (said["subscription_type"] or "").partition(".")[2]
    if kind == "propertyChange":
        return f"property.{said['property_name'] or ''}", text(said["property_value"])
    if said["association_type"] == "CONTACT_TO_COMPANY" and said["is_primary_association"]:
        return COMPANY, None if said["is_association_removed"] else text(said["to_object_id"])
    return f"event.{kind}", None


def contacts(facts: Iterable[Row]) -> list[Row]:
    return [_folded("contact_id", name, told, CONTACT_COLUMNS, with_company=True)
            for name, told in _by_subject("contact_id", facts)]  # fmt: skip


def companies(facts: Iterable[Row]) -> list[Row]:
    rows = [_folded("company_id", name, told, COMPANY_COLUMNS)
            for name, told in _by_subject("company_id", facts)]  # fmt: skip
    for row in rows:
        said = row["employee_count"]
        row["employee_count"] = int(said) if re.fullmatch("[0-9]{1,9}", said or "") else None
    return rows


def _by_subject(key: str, facts: Iterable[Row]) -> list[tuple[str, dict[str, Row]]]:
    told: dict[str, dict[str, Row]] = defaultdict(dict)
    for fact in facts:
        told[fact[key]][fact["fact"]] = fact
    return sorted(told.items())


def _folded(
    key: str, name: str, told: dict[str, Row], columns: dict[str, str], with_company: bool = False
) -> Row:
    life = [(told[kind]["occurred_at"], gone) for kind, gone in LIFE.items() if kind in told]
    is_deleted = max(life, default=(None, False))[1]

    def value(fact: str) -> Any:
        return None if is_deleted or fact not in told else told[fact]["value"]

    row: Row = {key: name}
    for source, column in columns.items():
        row[column] = value(f"property.{source}")
    row["country"] = country(row["country"])
    if with_company:
        row["company_id"] = value(COMPANY)
    began = told.get("event.creation")
    return row | {
        "created_at": began and began["occurred_at"],
        "updated_at": max(fact["occurred_at"] for fact in told.values()),
        "is_deleted": is_deleted,
    }
