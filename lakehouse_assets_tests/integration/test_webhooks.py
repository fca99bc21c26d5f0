"""Webhooks from Kafka to customer 360, against the simulator's truth, which shares no code with the
engine.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from lakehouse_assets.analytics.payer_days import PayerDays
from lakehouse_assets.bench import _lab
from lakehouse_assets.commands.compare import against_truth
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake import scope
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import found, looks_of
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.sources.webhooks import Dirt, Request, people_of, requests, truth
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.truth.people import score
from lakehouse_assets.sources.webhooks.vendors import TOPICS
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.sources.webhooks.truth.said import event, person, stripe
from lakehouse_assets_tests.support import fresh_topic, rows, stored

DIRT = Dirt(
    redelivery=0.05, late=0.05, out_of_order=0.03, stale_order=0.03, unknown_field=0.03,
    off_total=0.02, no_list=0.02, malformed=0.05,
)  # fmt: skip
COUNT, SEED = 900, 9  # requests, among them what the tests look for
CHANGES = "semantic.entity_changes"

Whose = dict[tuple[str, str], str]  # entity of each record, or who it really is


def begun() -> datetime:
    """On a full second: vendors' clocks count those, and the same happens whenever it is."""
    return now().replace(microsecond=0) - timedelta(seconds=COUNT)


def sent(start: datetime) -> list[Request]:
    return list(requests(SEED, COUNT, start, DIRT))


def shopped(lake: Lake, start: datetime) -> Whose:
    """Some of those people, and somebody else, are customers of the web shop, whose runs have left
    its tables so; who each of them is.
    """
    buyers = {person.email: person.person_id for person in people_of(SEED, COUNT, start, DIRT)[::3]}
    told = [{"customer_id": number, "email": email, "updated_at": start, "created_at": start,
             "country": "US", "last_name": "B", "segment": "new", "is_deleted": False}
            for number, email in enumerate(["else@x.org", *buyers])]  # fmt: skip
    orders = [{"order_id": row["customer_id"], "customer_id": row["customer_id"], "currency": "EUR",
               "total": Decimal(9), "status": "paid", "created_at": start} for row in told]
    given: tuple[list[dict[str, Any]], ...] = (told, told, orders)
    for name, rows_of_it in zip(truth.GIVEN[2:], given, strict=True):
        contract = tables()[name].contract
        left(lake, contract, *[{n: row[n] for n in contract.columns if n in row}
                               for row in rows_of_it])  # fmt: skip
    known = {("storefront", str(row["customer_id"])): row["email"] for row in told}
    return {who: buyers.get(email, "somebody else") for who, email in known.items()}


def left(lake: Lake, contract: type[Table], *given: dict[str, Any]) -> None:
    """Rows of a table of another source, as its runs leave them."""
    lake.catalog.ensure(contract)
    head = lake.catalog.head(contract.name)
    change = Change(rows(lake.spark, contract, *given), "append", scope.next_stamp(head.stamp))
    publish(lake, contract, head, change)


def catch_up(lake: Lake) -> None:
    """Also over the turn of an hour."""
    _lab.catch_up(lake, ours("webhooks", "metadata"))


def ours(*groups: str) -> list[LakeTable]:
    return [table for table in tables().values() if table.group in groups]


def check_against_truth(is_full: bool = True) -> None:
    compared = against_truth(truth, read_back(TOPICS))
    assert [(one.table, one.examples) for one in compared if not one.is_equal] == []
    assert not is_full or [one.table for one in compared if not one.rows] == []


def check_people(made: list[Request], shop: Whose) -> None:
    """Pairs of records that were found together are really one person's, and the other way."""
    found = score(whose(), truth.who_is_who(made) | shop)
    assert min(found.precision, found.recall, found.f1) >= 0.99, found


def whose() -> Whose:
    index = stored("semantic.entity_index", "source", "source_id", "entity_id")
    return {(row["source"], row["source_id"]): row["entity_id"] for row in index}


def check_ids_stay(before: Whose, after: Whose) -> None:
    """An entity whose records stayed together, without those of another one, keeps its id; of one
    that is no more it is told what became of it.
    """
    became: dict[str, set[str]] = {}
    came_from: dict[str, set[str]] = {}
    for record in before.keys() & after.keys():
        became.setdefault(before[record], set()).add(after[record])
        came_from.setdefault(after[record], set()).add(before[record])
    kept = {old for old, (new, *others) in became.items() if not others and came_from[new] == {old}}
    assert len(kept) > 20 and all(became[old] == {old} for old in kept)
    gone = {(old, None) for old in before.values() if old not in became}
    moved = {(old, new) for old, found in became.items() for new in found if new != old}
    told = {(row["entity_id"], row["became"]) for row in stored(CHANGES)}
    assert told and told == gone | moved


def check_looks(lake: Lake) -> None:
    """Each record has its place, each order its customer; fields that nobody told of are noticed,
    and only those.
    """
    unknown = set[str]()
    for table in ours("webhooks"):
        told = {look.name: found(look, lake, table) for look in looks_of(table)}
        _, drift = told.pop("has_no_unknown_fields", (True, {"fields": {}}))
        unknown |= drift["fields"].keys()
        assert [(name, said) for name, (passed, said) in told.items() if not passed] == []
    assert unknown == {"beta_feature"}


@pytest.fixture(autouse=True)
def topics(lake: Lake) -> Iterator[None]:
    for topic in TOPICS:
        fresh_topic(topic)
        ensure_topic(topic)
    yield
    for topic in TOPICS:  # other tests' tables are made of all topics that are there
        fresh_topic(topic)


def test_one_batch_gives_the_simulators_truth(lake: Lake) -> None:
    start = begun()
    made, shop = sent(start), shopped(lake, start)
    produce(records(made))
    catch_up(lake)
    check_against_truth()
    check_people(made, shop)
    assert any(row["storefront_ids"] and row["shopify_ids"] for row in stored("marts.customer_360"))
    check_looks(lake)
    assert not stored(CHANGES)


def test_many_shuffled_batches_give_the_truth_and_a_rebuild_changes_nothing(lake: Lake) -> None:
    start = begun()
    requested = sent(start)
    made = list(records(requested))
    Random(1).shuffle(made)
    produce(made[::2])
    catch_up(lake)
    before = whose()
    shop = shopped(lake, start)
    produce(made[1::2])
    catch_up(lake)
    check_against_truth()
    check_people(requested, shop)
    check_ids_stay(before, whose())
    customers = stored("staging.stg_shopify_customers")
    merged = {row["customer_id"] for row in customers if row["merged_into_id"]}
    orders = stored("staging.stg_shopify_orders")
    assert merged & {order["customer_id"] for order in orders}
    assert {o["financial_status"] for o in orders if o["cancelled_at"]} >= {"refunded", "voided"}
    assert {o["is_tax_included"] for o in orders} == {True, False}
    assert any(row["is_deleted"] and not row["merged_into_id"] for row in customers)
    resolved, told = whose(), stored(CHANGES)
    for name in [name for name in truth.KEYS if not tables()[name].topic]:
        rebuild(lake, tables()[name])
    check_against_truth()
    catch_up(lake)
    assert whose() == resolved and stored(CHANGES) == told


def test_a_record_that_joins_two_people_makes_them_one_and_who_left_is_told(lake: Lake) -> None:
    anna, phone, made_s = "anna@example.com", "+12125550123", int(now().timestamp()) - 60
    told = [
        [
            person(id=1, email=anna), stripe("customer.created", made_s, email=anna, phone=None),
            person(id=3, email="b@example.com", phone=phone), person(id=5, email="e@example.com"),
        ],
        [person(id=4, email=anna, phone=phone)],
        [
            event("shopify.customers", "customers/delete", {"id": 5}),
            person(id=3, email="b@example.com", phone=None, updated_at="2026-05-05T12:00:00Z"),
        ],
    ]  # fmt: skip
    found = [step(lake, batch) for batch in told]
    one, other, gone = (found[0]["shopify", name] for name in "135")
    assert set(found[1].values()) == {one, gone}
    assert found[2]["shopify", "3"] not in {one, other}
    changes = {(row["entity_id"], row["became"], row["reason"], row["records"])
               for row in stored(CHANGES)}  # fmt: skip
    assert changes == {
        (other, one, "merged", 1), (gone, None, "gone", 1),
        (one, found[2]["shopify", "3"], "split", 1),
    }  # fmt: skip
    counts = [(row["merges"], row["splits"]) for row in stored("semantic.entity_resolution_stats")]
    assert sorted(counts) == [(0, 0), (0, 1), (1, 0)]


def test_what_the_payments_system_knows_of_a_mailbox_is_on_its_owners_page(lake: Lake) -> None:
    """Also of one who paid before anybody knew them; a role's mailbox is nobody's own."""
    step(lake, [person(id=1, email="Anna+x@example.com"), person(id=2, email="info@example.com")])
    paid = {"charged_on": date(2026, 5, 4), "charges": 2, "succeeded": 1, "failed": 1}
    days = [paid | {"email_normalized": f"{name}@example.com", "last_charge_at": now()}
            for name in ("anna", "info", "late")]  # fmt: skip
    left(lake, PayerDays, *days)
    step(lake, [])
    step(lake, [person(id=3, email="late@example.com")])
    pages = stored("marts.customer_360", "shopify_ids", "provider_charges")
    counts = {row["shopify_ids"][0]: row["provider_charges"] for row in pages}
    assert counts == {"1": 2, "2": 0, "3": 2}


def step(lake: Lake, batch: list[Event]) -> Whose:
    produce(batch)
    catch_up(lake)
    check_against_truth(is_full=False)
    return whose()
