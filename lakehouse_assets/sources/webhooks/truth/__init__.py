"""What raw and staging must hold after some webhooks, and who is who: from the records alone.

It is the oracle of tests and benches, so it shares no code with the engine, the layers or Spark,
and is written for reading, not for speed. Instants are UTC, money is Decimal, rows come sorted by
their key. Raw has every record, see `raw`; what cannot be typed there is staged nowhere.

One row per business key, its newest version, then the greater content, then the first to arrive:
- stg_shopify_orders, by `updated_at`: the seed's columns, whether it was cancelled and whether
  its prices contain the taxes. `is_paid` and `is_fulfilled` are those
  words of the two statuses; the state is the province by its name; `order_date` is the day of
  `created_at` in UTC.
- stg_shopify_customers, stg_stripe_customers: a deletion first, since neither vendor uses an id
  again, then `updated_at`. Of one deleted only ids and times are kept; Shopify's deletion tells no
  time: `created_at` and `updated_at` are NULL. `merged_into_id`: whom a merge kept.
- stg_stripe_charges, stg_stripe_disputes, by the event's time.
- stg_shopify_refunds, by `created_at`: a refund never changes.
- stg_hubspot_contact_facts, stg_hubspot_company_facts, by the time of what happened; and
  stg_hubspot_contacts, stg_hubspot_companies, folded from them, see `hubspot`.
Content decides column by column in the order given here, nulls first, text by its bytes. What
breaks a rule of `rules` is set aside, so the version before it stands.

What is made of staging is told by `entities`, `orders`, `storefront` and `customers`. A column that
begins with `_` is the table's own business; one of them is kept for what is made of it: an order's
line items.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from lakehouse_assets.sources.oracle import LONG_AGO, PLACE, QUARANTINE, Delivered, delivered, hour
from lakehouse_assets.sources.webhooks.request import Request
from lakehouse_assets.sources.webhooks.truth import (
    customers,
    entities,
    hubspot,
    orders,
    raw,
    rules,
    shopify,
    storefront,
    stripe,
)
from lakehouse_assets.sources.webhooks.truth.entities import Who, contacts, grouping
from lakehouse_assets.sources.webhooks.truth.values import Row, Tables, orderable

__all__ = [
    "ENTITIES", "GIVEN", "KEYS", "QUARANTINE", "RAW", "STAGING", "Delivered", "Truth", "contacts",
    "delivered", "expected", "grouping", "who_is_who",
]  # fmt: skip

Truth = Tables

RAW = {topic: f"raw.{topic.replace('.', '_')}" for topic in raw.COLUMNS}
VERSIONS = {  # what decides between versions, before their content
    shopify.ORDERS: ("updated_at",),
    shopify.CUSTOMERS: ("is_deleted", "updated_at"),
    shopify.REFUNDS: ("created_at",),
    stripe.CHARGES: ("updated_at",),
    stripe.CUSTOMERS: ("is_deleted", "updated_at"),
    stripe.DISPUTES: ("updated_at",),
    hubspot.CONTACT_FACTS: ("occurred_at",),
    hubspot.COMPANY_FACTS: ("occurred_at",),
}
STAGING: dict[str, tuple[str, ...]] = {  # tables and their keys
    shopify.ORDERS: ("order_id",), shopify.CUSTOMERS: ("customer_id",),
    shopify.REFUNDS: ("refund_id",), stripe.CHARGES: ("charge_id",),
    stripe.CUSTOMERS: ("customer_id",), stripe.DISPUTES: ("dispute_id",),
    hubspot.CONTACT_FACTS: ("contact_id", "fact"), hubspot.COMPANY_FACTS: ("company_id", "fact"),
    hubspot.CONTACTS: ("contact_id",), hubspot.COMPANIES: ("company_id",),
}  # fmt: skip
# What is made of staging, each from what is before it.
BEYOND = (entities, orders, storefront, customers)
KEYS: dict[str, tuple[str, ...]] = {  # of every table that has a truth
    **dict.fromkeys(RAW.values(), PLACE),
    **STAGING,
    **{name: key for part in BEYOND for name, key in part.KEYS.items()},
    QUARANTINE: ("source_table", *PLACE),
}
GIVEN: tuple[str, ...] = (  # tables that are taken as they are
    customers.AS_OF, customers.PAYERS, entities.SHOPPERS, storefront.CUSTOMERS, storefront.ORDERS,
)  # fmt: skip
# Tables that name an entity, which is called by its first record here; the first tells whose it is.
ENTITIES: tuple[str, ...] = (
    entities.INDEX, entities.BLOCKS, customers.METRICS, storefront.METRICS, customers.PAGE,
)  # fmt: skip

_READERS: dict[str, tuple[str, Callable[[Row], Row | None]]] = {  # topic: table, row of a record
    "shopify.orders": (shopify.ORDERS, shopify.order),
    "shopify.customers": (shopify.CUSTOMERS, shopify.customer),
    "stripe.charges": (stripe.CHARGES, stripe.charge),
    "stripe.customers": (stripe.CUSTOMERS, stripe.customer),
    "hubspot.contacts": (hubspot.CONTACT_FACTS, hubspot.contact_fact),
    "hubspot.companies": (hubspot.COMPANY_FACTS, hubspot.company_fact),
}


def expected(
    records: Iterable[Delivered],
    first_hour: datetime = LONG_AGO,
    as_of: Iterable[Row] = (),
    payer_days: Iterable[Row] = (),
    shoppers: Iterable[Row] = (),
    shop_customers: Iterable[Row] = (),
    shop_orders: Iterable[Row] = (),
) -> Truth:
    """The rows of every table; the order of the records does not matter, their offsets say it.

    `first_hour`: the lake's first, which takes everything older. The others are the rows of the
    tables of GIVEN, which the clock or other sources tell.
    """
    truth: Truth = {name: [] for name in KEYS}
    accepted: Truth = {table: [] for table in VERSIONS}
    for record in sorted(records, key=lambda record: record[:3]):
        table = RAW[record.topic]
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        parsed = raw.parse(record.topic, record.value)
        unknown = {"error": parsed.error, "has_unknown_fields": parsed.has_unknown_fields}
        arrival = {"arrived_at": record.arrived_at, "ingest_hour": hour(record, first_hour)}
        truth[table].append(place | arrival | unknown | parsed.row)
        stage, reason = "parse", parsed.error
        if not parsed.error and (staged := _staged(record, parsed.row)):
            stage, reason = "staging", rules.refused(*staged)
            if not reason:
                accepted[staged[0]].append(staged[1])
        if reason:
            why = {"source_table": table, "stage": stage, "reason": reason}
            truth[QUARANTINE].append(place | why)
    for table, rows in accepted.items():
        truth[table] = _winners(table, rows)
    truth[hubspot.CONTACTS] = hubspot.contacts(truth[hubspot.CONTACT_FACTS])
    truth[hubspot.COMPANIES] = hubspot.companies(truth[hubspot.COMPANY_FACTS])
    others = (as_of, payer_days, shoppers, shop_customers, shop_orders)
    given = dict(zip(GIVEN, map(list, others), strict=True))
    for part in BEYOND:
        truth |= part.tables(truth | given)
    return truth


def _staged(record: Delivered, said: Row) -> tuple[str, Row] | None:
    """Where a record goes, and what it is there; many go nowhere beyond raw."""
    reader = _READERS.get(record.topic) or _reader_of_other(said)
    row = reader[1](said) if reader else None
    return (reader[0], row | {"arrived_at": record.arrived_at}) if reader and row else None


def _reader_of_other(said: Row) -> tuple[str, Callable[[Row], Row | None]] | None:
    vendor, kind = said["_vendor"], said["_webhook_topic"] or ""
    if vendor == "shopify" and kind == "refunds/create":
        return shopify.REFUNDS, shopify.refund
    if vendor == "stripe" and kind.startswith("charge.dispute."):
        return stripe.DISPUTES, stripe.dispute
    return None


def _winners(table: str, rows: Iterable[Row]) -> list[Row]:
    best: dict[tuple[str, ...], Row] = {}
    for row in sorted(rows, key=lambda row: row["arrived_at"], reverse=True):
        key = tuple(row[name] for name in KEYS[table])
        if key not in best or _version(table, row) >= _version(table, best[key]):
            best[key] = row
    return [best[key] for key in sorted(best)]


def _version(table: str, row: Row) -> list[tuple[object, ...]]:
    content = [v for name, v in row.items() if name != "arrived_at" and name[0] != "_"]
    return [orderable(value) for value in (*(row[name] for name in VERSIONS[table]), *content)]


def who_is_who(requests: Iterable[Request]) -> dict[Who, str]:
    """Whose each record really is, whatever the rules find."""
    return {(r.known.source, r.known.source_id): r.known.person_id for r in requests if r.known}
