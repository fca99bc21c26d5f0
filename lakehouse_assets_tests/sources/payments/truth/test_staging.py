import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from random import Random
from time import perf_counter
from typing import Any

import pytest

from lakehouse_assets.sources.payments import CHARGES, FIRST_DAY, Dirt, charges
from lakehouse_assets.sources.payments import truth as oracle
from lakehouse_assets.sources.payments.truth import QUARANTINE, Delivered, delivered, expected
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS, PAYMENTS_DAILY
from lakehouse_assets.sources.payments.truth.raw import Row, parse
from lakehouse_assets.sources.payments.truth.staging import CASE_NUMBER, COLUMNS, cleaned

RAW, STAGING = oracle.RAW[CHARGES], oracle.STAGING[CHARGES]
SEMANTIC, MART = PAYMENTS, PAYMENTS_DAILY

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
CHARGE = {
    "event_id": "e1",
    "provider": "Braintree",
    "charge_id": "c1",
    "amount": 12.5,
    "currency": "USD",
    "status": "settled",
    "billing_postal_code": "10115",
    "created_at": "2026-05-04T11:00:00.000Z",
    "updated_at": "2026-05-04T11:00:00.000Z",
}


def value(**changes: Any) -> bytes:
    return json.dumps(CHARGE | changes).encode()


def arriving(*values: bytes | None, at: datetime = NOON) -> list[Delivered]:
    return [Delivered(CHARGES, 0, offset, at + timedelta(seconds=offset), None, value)
            for offset, value in enumerate(values)]  # fmt: skip


def staged(**changes: Any) -> Row:
    """The staging row of one charge, or its refusal."""
    truth = expected(arriving(value(**changes)))
    return (truth[STAGING] or truth[QUARANTINE])[0]


def test_a_staging_row_has_the_columns_in_the_order_that_breaks_ties() -> None:
    content = (*COLUMNS[CHARGES], "is_dirty")
    assert tuple(staged()) == (*content, "arrived_at")
    assert tuple(cleaned(CHARGES, parse(CHARGES, value()).row)) == content


@pytest.mark.parametrize("spelling", ["", "  ", "NULL", "null", " Null ", "None", "N/A", "nil"])
def test_a_null_spelling_is_null_and_dirty(spelling: str) -> None:
    row = staged(failure_code=spelling, metadata={"subscription_id": spelling})
    assert row["failure_code"] is None
    assert row["subscription_id"] is None
    assert row["is_dirty"]
    assert staged(metadata={"order_id": spelling})["is_dirty"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"failure_code": None}, {"failure_code": None, "is_dirty": False}),
        ({"provider": " sTripe "}, {"provider": "STRIPE", "is_dirty": False}),
        ({"status": "Succeeded "}, {"provider_status": "succeeded", "is_dirty": False}),
        ({"currency": "eUr"}, {"currency": "EUR", "is_dirty": True}),
        ({"currency": None}, {"currency": None, "is_dirty": False}),
        ({"card_country": "342"}, {"card_country": None, "is_dirty": True}),
        ({"billing_country": "us"}, {"billing_country": None, "is_dirty": True}),
        ({"billing_country": "US\n"}, {"billing_country": None, "is_dirty": True}),
        ({"card_country": "DE"}, {"card_country": "DE", "is_dirty": False}),
        ({"billing_postal_code": None}, {"billing_postal_code": None, "is_dirty": True}),
        ({"risk_score": 101}, {"risk_score": None, "is_dirty": True}),
        ({"risk_score": 0}, {"risk_score": 0, "is_dirty": False}),
        ({"3ds_authenticated": "Yes"}, {"is_3ds_authenticated": True, "is_dirty": False}),
        ({"3ds_authenticated": False}, {"is_3ds_authenticated": False, "is_dirty": False}),
        ({"3ds_authenticated": "maybe"}, {"is_3ds_authenticated": None, "is_dirty": False}),
    ],
)
def test_staging_mends_what_it_can_and_says_so(said: Row, kept: Row) -> None:
    row = staged(**said)
    assert {name: row[name] for name in kept} == kept


def test_a_case_number_is_of_ascii_digits_and_has_nothing_behind_it() -> None:
    whole = "CB-2026-000001"
    assert CASE_NUMBER(whole) == whole
    for broken in (f"{whole}\n", f"{whole}1", whole.replace("2", "\u0662")):
        assert CASE_NUMBER(broken) is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"event_id": "NULL", "charge_id": None}, "event_id_present, charge_id_present"),
        ({"charge_id": ""}, "charge_id_present"),
        ({"provider": None}, "provider_present"),
        ({"amount": None}, "provider_amount_present"),
        ({"amount": -0.01, "currency": "XXX"}, "provider_amount_not_negative, currency_known"),
        ({"currency": "euro"}, "currency_known"),
        ({"created_at": None}, "created_at_present"),
        ({"updated_at": None}, "updated_at_present"),
        ({"created_at": "2026-05-04T12:05:00.001Z"}, "created_not_in_future"),
        ({"updated_at": "2099-12-31T23:59:59Z"}, "updated_not_in_future"),
    ],
)
def test_staging_refuses_with_every_rule_that_fails(said: Row, reason: str) -> None:
    assert staged(**said) == {
        "source_table": RAW, "kafka_partition": 0, "kafka_offset": 0, "stage": "staging",
        "reason": reason,
    }  # fmt: skip


def test_five_minutes_ahead_of_kafka_is_not_yet_the_future() -> None:
    assert staged(updated_at="2026-05-04T12:05:00.000Z")["event_id"] == "e1"


def test_a_duplicate_is_one_staging_row_with_the_earliest_arrival() -> None:
    truth = expected(arriving(value(), value()))
    assert len(truth[RAW]) == 2
    assert [row["arrived_at"] for row in truth[STAGING]] == [NOON]


def test_the_newest_version_wins_however_late_it_comes() -> None:
    newer = value(updated_at="2026-05-04T11:30:00Z", status="failed")
    for records in ((value(), newer), (newer, value())):
        (row,) = expected(arriving(*records))[STAGING]
        assert row["provider_status"] == "failed"


def test_a_tie_goes_to_the_greater_content_nulls_first_by_bytes() -> None:
    names = [None, "B", "a", "\uff5e", "\U0001f600"]  # UTF-16 would put the last before its fellow
    for less, greater in pairwise(names):
        records = arriving(value(merchant_name=greater), value(merchant_name=less))
        assert [row["merchant_name"] for row in expected(records)[STAGING]] == [greater]


def test_a_charge_has_one_row_the_last_word_of_its_events() -> None:
    pending = value(status="pending", event_id="e0")
    late = value(status="failed", event_id="e2", updated_at="2026-05-04T10:59:00Z")
    truth = expected(arriving(value(), pending, late))
    assert len(truth[STAGING]) == 3
    assert [row["event_id"] for row in truth[SEMANTIC]] == ["e1"]


def test_the_mart_counts_each_charge_once_on_the_day_it_was_made() -> None:
    records = arriving(
        value(amount=10),
        value(amount=10.01, event_id="e2", charge_id="c2", currency="usd"),
        value(amount=5, event_id="e3", charge_id="c3", status="processor_declined"),
        value(amount=1, event_id="e4", charge_id="c4", created_at="2026-05-03T23:59:59.999Z"),
    )
    common = {"provider": "BRAINTREE", "currency": "USD"}
    today = common | {"created_on": date(2026, 5, 4), "failure_rate": 1 / 3}
    yesterday = common | {"created_on": date(2026, 5, 3), "failure_rate": 0.0}

    def money(amount: str, average: str) -> Row:
        return {"amount": Decimal(amount), "average_amount": Decimal(average)}

    assert expected(records)[MART] == [
        yesterday | money("1.00", "1.00")
        | {"status": "succeeded", "payments": 1, "dirty_share": 0.0},
        today | money("5.00", "5.00") | {"status": "failed", "payments": 1, "dirty_share": 0.0},
        today | money("20.01", "10.01")
        | {"status": "succeeded", "payments": 2, "dirty_share": 0.5},
    ]  # fmt: skip


def test_the_order_in_which_records_are_read_changes_nothing() -> None:
    records = delivered(charges(11, 3_000, FIRST_DAY, Dirt(oversized=0)), FIRST_DAY)
    truth = expected(records)
    for seed in range(3):
        Random(seed).shuffle(records)
        assert expected(records) == truth


def test_other_offsets_give_the_same_tables_beyond_raw() -> None:
    events = list(charges(12, 3_000, FIRST_DAY, Dirt(late=0.05, tie_state=0.05)))
    arrival = FIRST_DAY + timedelta(hours=1)
    in_order = expected(delivered(events, arrival, timedelta(0)))
    Random(1).shuffle(events)
    shuffled = expected(delivered(events, arrival, timedelta(0), partitions=1))
    for table in (STAGING, SEMANTIC, MART):
        assert shuffled[table] == in_order[table]


def test_every_record_is_a_raw_row_and_every_dirt_shows_in_the_tables() -> None:
    events = list(charges(13, 20_000, FIRST_DAY))
    began = perf_counter()
    truth = expected(delivered(events, FIRST_DAY))
    print(f"\ntruth: {len(events) / (perf_counter() - began):,.0f} records/s")
    assert len(truth[RAW]) == 20_000
    assert {row["reason"] for row in truth[QUARANTINE]} == {
        "null value", "invalid utf-8", "malformed", "wrong type", "event_id_present",
        "charge_id_present", "provider_amount_not_negative", "currency_known",
        "updated_not_in_future",
    }  # fmt: skip
    refused = sum(row["stage"] == "staging" for row in truth[QUARANTINE])
    assert refused == 20_000 * (0.001 + 0.0005 + 0.0005 + 0.001 + 0.0005)
    assert sum(row["payments"] for row in truth[MART]) == len(truth[SEMANTIC])
