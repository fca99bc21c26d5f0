"""What staging makes of HubSpot's events: a contact or company folded from all that was said of it.

Of each property the newest value stands, by `occurredAt`, then by the value; one that was emptied
is NULL. It is deleted if the newest of its creations, restorations and deletions is a deletion;
then nothing but its id and times is kept. A contact's company is the newest primary association.
It was created when its creation says, and updated when the newest event says, whatever that is
about.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from lakehouse_assets.sources.webhooks.truth.values import (
    Json,
    Row,
    after_epoch,
    country,
    orderable,
    text,
    whole,
)

MILLISECOND = timedelta(milliseconds=1)
LIFE = {"creation": False, "restore": False, "deletion": True, "privacyDeletion": True}
CONTACT = {
    "email": "email", "phone": "phone", "firstname": "first_name", "lastname": "last_name",
    "country": "country", "city": "city", "company": "company_name", "jobtitle": "job_title",
    "lifecyclestage": "lifecycle_stage",
}  # fmt: skip
COMPANY = {
    "name": "company_name", "domain": "domain", "country": "country", "phone": "phone",
    "industry": "industry", "numberofemployees": "employee_count",
}  # fmt: skip


def accepted(said: Json) -> list[str]:
    """The rules that one event breaks."""
    broken = [] if _subject(said) else ["object_id_present"]
    return broken + ([] if whole(said.get("occurredAt")) is not None else ["occurred_at_present"])


def contacts(events: Iterable[Json]) -> list[Row]:
    return [
        _folded("contact_id", name, told, CONTACT) | {"company_id": _company(told)}
        for name, told in _by_subject(events)
    ]


def companies(events: Iterable[Json]) -> list[Row]:
    rows = [_folded("company_id", name, told, COMPANY) for name, told in _by_subject(events)]
    for row in rows:
        said = row["employee_count"]
        row["employee_count"] = int(said) if re.fullmatch("[0-9]{1,9}", said or "") else None
    return rows


def _subject(said: Json) -> str | None:
    """An association is about two things: the one it goes out from counts."""
    return text(said.get("objectId")) or text(said.get("fromObjectId"))


def _by_subject(events: Iterable[Json]) -> list[tuple[str, list[Json]]]:
    told: dict[str, list[Json]] = defaultdict(list)
    for said in events:
        told[_subject(said) or ""].append(said)
    return sorted(told.items())


def _kind(said: Json) -> str:
    return str(said["subscriptionType"]).partition(".")[2]


def _newest(values: Iterable[tuple[int, Any]]) -> Any:
    return max(values, key=lambda one: (one[0], orderable(one[1])), default=(0, None))[1]


def _is_deleted(told: list[Json]) -> bool:
    life = [(said["occurredAt"], LIFE[_kind(said)]) for said in told if _kind(said) in LIFE]
    return bool(_newest(life))


def _folded(key: str, name: str, told: list[Json], columns: dict[str, str]) -> Row:
    values: dict[str, list[tuple[int, str | None]]] = defaultdict(list)
    for said in told:
        if _kind(said) == "propertyChange":
            at, value = said["occurredAt"], text(said.get("propertyValue"))
            values[str(said.get("propertyName"))].append((at, value))
    is_deleted = _is_deleted(told)
    row: Row = {key: name}
    for source, column in columns.items():
        row[column] = None if is_deleted else _newest(values[source])
    row["country"] = country(row["country"])
    began = [said["occurredAt"] for said in told if _kind(said) == "creation"]
    return row | {
        "created_at": after_epoch(min(began, default=None), MILLISECOND),
        "updated_at": after_epoch(max(said["occurredAt"] for said in told), MILLISECOND),
        "is_deleted": is_deleted,
    }


def _company(told: list[Json]) -> str | None:
    if _is_deleted(told):
        return None
    found: str | None = _newest(
        (said["occurredAt"], None if said.get("associationRemoved") else text(said["toObjectId"]))
        for said in told
        if said.get("associationType") == "CONTACT_TO_COMPANY"
        and said.get("isPrimaryAssociation") is True
    )
    return found
