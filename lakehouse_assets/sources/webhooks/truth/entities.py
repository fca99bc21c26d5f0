"""Who is one person across systems: records with their group, and the keys that they lie under.

What the tables call an entity is made up when it is first seen, so that it depends on the order in
which records came. Here it is called by its first record, the least (source, source_id) of all. The
web shop's customers are taken as given: another source's truth tells them.

- entity_index: of everybody who was not deleted. `match_confidence`: 0.95 where only the mailbox
  links the record to another one, 0.90 where only the phone does; 1.00 where both do, or nothing.
- blocking_index: a record's own mailbox, unless it is a role's, and its phone. `block_size` counts
  up to one more than links.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from lakehouse_assets.sources.webhooks.truth import hubspot, shopify, stripe
from lakehouse_assets.sources.webhooks.truth.people import (
    CAPS,
    Contact,
    e164,
    groups,
    links,
    mailbox,
)
from lakehouse_assets.sources.webhooks.truth.values import Row, Tables

INDEX, BLOCKS = "semantic.entity_index", "semantic.blocking_index"
SHOPPERS = "semantic.storefront_people"
KEYS: dict[str, tuple[str, ...]] = {
    INDEX: ("source", "source_id"),
    BLOCKS: ("key_type", "blocking_key", "source", "source_id"),
}
PEOPLE = {  # the tables whose rows are records of people: source, key
    shopify.CUSTOMERS: ("shopify", "customer_id"),
    stripe.CUSTOMERS: ("stripe", "customer_id"),
    hubspot.CONTACTS: ("hubspot", "contact_id"),
    SHOPPERS: ("storefront", "customer_id"),
}
SURE = Decimal("1.00")
BY = {"email": Decimal("0.95"), "phone": Decimal("0.90")}

Who = tuple[str, str]  # source, source_id


def tables(truth: Tables) -> Tables:
    people, whose = records(truth), grouping(truth)
    keys = {who: links(contact) for who, contact in contacts(truth).items()}
    sizes = Counter(key for found in keys.values() for key in found)
    index = [_record(who, people[who], whose[who], _linked_by(keys[who], sizes)) for who in people]
    blocks = [
        {"key_type": kind, "blocking_key": key, "entity_id": whose[who], "source": who[0],
         "source_id": who[1], "block_size": min(sizes[kind, key], CAPS[kind] + 1)}
        for who in people for kind, key in keys[who]
    ]  # fmt: skip
    return {INDEX: index, BLOCKS: sorted(blocks, key=lambda row: [row[k] for k in KEYS[BLOCKS]])}


def records(truth: Mapping[str, list[Row]]) -> dict[Who, Row]:
    """Everybody who was not deleted, by name."""
    found = {
        (source, str(row[key])): row
        for table, (source, key) in PEOPLE.items()
        for row in truth.get(table, ())
        if not row["is_deleted"]
    }
    return dict(sorted(found.items()))


def contacts(truth: Mapping[str, list[Row]]) -> dict[Who, Contact]:
    """What the rules of resolution look at."""
    people = records(truth).items()
    return {who: Contact(row["email"], row["phone"], row["country"]) for who, row in people}


def grouping(truth: Mapping[str, list[Row]]) -> dict[Who, Who]:
    """Each record's group by the rules, named by its first record."""
    return groups(contacts(truth))


def _linked_by(keys: list[tuple[str, str]], sizes: Counter[tuple[str, str]]) -> set[str]:
    """Of which kind the keys are that link a record to another."""
    return {kind for kind, key in keys if 1 < sizes[kind, key] <= CAPS[kind]}


def _record(who: Who, row: Row, entity: Who, linked_by: set[str]) -> Row:
    first, last = row.get("first_name"), row.get("last_name")
    both = " ".join(name for name in (first, last) if name) or None
    return {
        "entity_id": entity,
        "source": who[0],
        "source_id": who[1],
        "email": row["email"],
        "email_normalized": mailbox(row["email"]),
        "phone": row["phone"],
        "phone_normalized": e164(row["phone"], row["country"]),
        "first_name": first,
        "last_name": last,
        "full_name": row.get("full_name") or both,
        "match_confidence": BY[linked_by.pop()] if len(linked_by) == 1 else SURE,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
