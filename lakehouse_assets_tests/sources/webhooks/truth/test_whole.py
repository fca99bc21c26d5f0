"""The truth of a whole feed: whatever its order and its re-deliveries, and who is who."""

from collections import Counter
from random import Random
from time import perf_counter

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.truth import (
    QUARANTINE,
    RAW,
    STAGING,
    Truth,
    grouping,
    who_is_who,
)
from lakehouse_assets.sources.webhooks.truth.people import score
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
