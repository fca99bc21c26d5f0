"""The truth of a whole feed: whatever its order and its re-deliveries, and who is who."""

from collections import Counter
from random import Random
from time import perf_counter

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.storefront.making import Maker
from lakehouse_assets.sources.storefront.shared import Shared
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, people_of, requests
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.truth import (
    QUARANTINE,
    RAW,
    STAGING,
    Truth,
    grouping,
    who_is_who,
)
from lakehouse_assets.sources.webhooks.truth.people import mailbox, score
from lakehouse_assets_tests.sources.webhooks.truth.said import expected, seen


@pytest.fixture(scope="module")
def told() -> tuple[list[Event], Truth, float]:
    made = list(requests(11, 12_000, FIRST_DAY, Dirt(late=0.03, redelivery=0.03, no_list=0.01)))
    truth = expected(records(made))
    real = who_is_who(made)
    return list(records(made)), truth, score(grouping(truth), real).f1


def test_the_order_of_deliveries_and_re_deliveries_change_nothing(
    told: tuple[list[Event], Truth, float],
) -> None:
    kafka, truth, _ = told
    mixed = [*kafka, *(e for e in kafka if e.kind == "clean")]
    Random(1).shuffle(mixed)
    once = [e for e in kafka if e.kind != "redelivery"]
    for other in (expected(mixed), expected(once)):
        for table in STAGING:
            assert list(map(seen, other[table])) == list(map(seen, truth[table])), table


def test_the_dirt_shows_and_the_people_are_found(told: tuple[list[Event], Truth, float]) -> None:
    kafka, truth, f1 = told
    assert f1 >= 0.99
    reasons = Counter(row["reason"] for row in truth[QUARANTINE])
    assert reasons["line_item_count_present"] == pytest.approx(120, abs=6)
    assert {"total_amount_present", "currency_known", "wrong type"} <= set(reasons)
    for table in (*RAW.values(), *STAGING):
        assert len(truth[table]) > 20, table
    assert any(row["merged_into_id"] for row in truth["staging.stg_shopify_customers"])
    assert any(row["company_id"] for row in truth["staging.stg_hubspot_contacts"])
    began = perf_counter()
    expected(kafka)
    print(f"\ntruth: {len(kafka) / (perf_counter() - began):,.0f} records/s; f1 {f1:.4f}")


def test_with_the_shops_customers_among_them_people_are_found_as_well() -> None:
    """Of the shop each is a person of the webhooks', or nobody else."""
    made = list(requests(7, 2_000, FIRST_DAY))
    maker, people = Maker("a shop"), people_of(7, 2_000, FIRST_DAY)
    alone = [maker.customer(number, FIRST_DAY) for number in range(500)]
    shared = Shared(7, people)
    shop = [*map(shared.instead, alone[:300]), *alone[300:]]
    both = sum(one.email != was.email for one, was in zip(shop, alone, strict=True))
    assert both > 60
    shoppers = [one._asdict() | {"customer_id": one.id, "is_deleted": False} for one in shop]
    whose = {person.email: person.person_id for person in people}
    real = who_is_who(made) | {
        ("storefront", str(one.id)): whose.get(str(mailbox(one.email)), f"shopper {one.id}")
        for one in shop
    }
    truth = expected(records(made), shoppers=shoppers)
    index = {(r["source"], r["source_id"]): r["entity_id"] for r in truth["semantic.entity_index"]}
    found = score(index, real)
    assert min(found.precision, found.recall, found.f1) >= 0.99, found
    webhooks = {who: entity for who, entity in index.items() if who[0] != "storefront"}
    assert score(webhooks, real).f1 >= score(grouping(expected(records(made))), real).f1
