"""What staging must hold after some webhooks, and who is who: from the records' bytes alone.

It is the oracle of tests and benches, so it shares no code with the engine, the layers or Spark,
and is written for reading, not for speed. Instants are UTC, money is Decimal, rows come sorted by
their key. Columns that begin with `_` are bookkeeping and not told.

One row per business key, its newest version:
- stg_shopify_orders, by `updated_at`, then by content: the seed's columns. `is_paid` and
  `is_fulfilled` are those words of the two statuses; the state is the province by its name;
  `order_date` is the day of `created_at` in UTC. Line items that are no list, a total that is no
  number, an unknown currency, a missing time: set aside, so the version before it stands.
- stg_shopify_customers, stg_stripe_customers: a deletion first, since neither vendor uses an id
  again, then `updated_at`, then content. Of one deleted only ids and times are kept; Shopify's
  deletion tells no time: `created_at` and `updated_at` are NULL. `merged_into_id`: whom a merge
  kept.
- stg_stripe_charges, by the event's time, then by content.
- stg_hubspot_contacts, stg_hubspot_companies: folded event by event, see `hubspot`.
Content decides column by column in the order given here, nulls first, text by its bytes.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.truth import hubspot, shopify, stripe
from lakehouse_assets.sources.webhooks.truth.people import Contact, groups
from lakehouse_assets.sources.webhooks.truth.values import EPOCH, Json, Row, orderable

Truth = dict[str, list[Row]]
Who = tuple[str, str]  # source, source_id

REFUSED = "refused"  # the records that staging sets aside: topic, webhook id, broken rules
STAGING = {
    topic: f"staging.stg_{topic.replace('.', '_')}"
    for topic in ("shopify.orders", "shopify.customers", "stripe.charges", "stripe.customers",
                  "hubspot.contacts", "hubspot.companies")
}  # fmt: skip
KEYS = {
    table: "order_id" if "orders" in table else table.rpartition("_")[2].removesuffix("s") + "_id"
    for table in STAGING.values()
} | {STAGING["hubspot.companies"]: "company_id"}
PEOPLE = {  # the tables whose rows are records of people
    STAGING["shopify.customers"]: "shopify", STAGING["stripe.customers"]: "stripe",
    STAGING["hubspot.contacts"]: "hubspot",
}  # fmt: skip

_Reader = Callable[[Json], tuple[Row, list[str]] | None]
_READERS: dict[str, _Reader] = {
    "shopify.orders": shopify.order, "shopify.customers": shopify.customer,
    "stripe.charges": stripe.charge, "stripe.customers": stripe.customer,
    "hubspot.contacts": lambda said: (said, hubspot.accepted(said)),
    "hubspot.companies": lambda said: (said, hubspot.accepted(said)),
}  # fmt: skip
_FOLDED = {"hubspot.contacts": hubspot.contacts, "hubspot.companies": hubspot.companies}


class Record(Protocol):
    """A record of Kafka, made or read back."""

    @property
    def topic(self) -> str: ...
    @property
    def value(self) -> bytes | None: ...


def expected(records: Iterable[Record]) -> Truth:
    """The rows of staging and what it refuses; the order of the records does not matter."""
    truth: Truth = {REFUSED: []}
    accepted: dict[str, list[Row]] = {topic: [] for topic in STAGING}
    for record in records:
        if record.topic not in STAGING or record.value is None:
            continue
        said = json.loads(record.value)
        read = _READERS[record.topic](said)
        if read is None:
            continue
        row, broken = read
        if broken:
            why = {"webhook_id": said["_webhook_id"], "reason": ", ".join(broken)}
            truth[REFUSED].append({"topic": record.topic} | why)
        else:
            accepted[record.topic].append(row)
    for topic, table in STAGING.items():
        fold = _FOLDED.get(topic)
        truth[table] = fold(accepted[topic]) if fold else _newest(accepted[topic], KEYS[table])
    truth[REFUSED].sort(key=lambda row: tuple(map(str, row.values())))
    return truth


def _newest(rows: Iterable[Row], key: str) -> list[Row]:
    best: dict[str, tuple[tuple[Any, ...], Row]] = {}
    for row in rows:
        version = (
            row.get("is_deleted", False), row["updated_at"] or EPOCH,
            *map(orderable, row.values()),
        )  # fmt: skip
        if row[key] not in best or version > best[row[key]][0]:
            best[row[key]] = version, row
    return [best[name][1] for name in sorted(best)]


def contacts(truth: Mapping[str, list[Row]]) -> dict[Who, Contact]:
    """What the rules of resolution look at, of everybody who was not deleted."""
    return {
        (source, row[KEYS[table]]): Contact(row["email"], row["phone"], row["country"])
        for table, source in PEOPLE.items()
        for row in truth[table]
        if not row["is_deleted"]
    }


def grouping(truth: Mapping[str, list[Row]]) -> dict[Who, Who]:
    """Each record's group by the rules, named by its first record."""
    return groups(contacts(truth))


def who_is_who(requests: Iterable[Request]) -> dict[Who, str]:
    """Whose each record really is, whatever the rules find."""
    return {(r.known.source, r.known.source_id): r.known.person_id for r in requests if r.known}
