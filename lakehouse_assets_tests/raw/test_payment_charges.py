"""raw.payment_charges: every record one row, as it was sent."""

import json
from datetime import datetime, timezone
from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_charges import PaymentCharges, payment_charges
from lakehouse_assets_tests.lake.tables import Row, add
from lakehouse_assets_tests.support import broken_across, broken_rules
from lakehouse_assets_tests.topics.records import ARRIVED, ARRIVED_IN, parsed


def test_a_charge_is_typed_and_otherwise_as_it_was_sent(lake: Lake) -> None:
    sent = {
        "event_id": "e1", "charge_id": "c1", "provider": "stripe", "amount": 12.5,
        "currency": "usd", "card_country": "342", "billing_postal_code": "", "failure_code": None,
        "metadata": {"order_id": "o1", "user_email": "a@b"}, "3ds_authenticated": "yes",
        "risk_score": 140, "created_at": "2024-03-01T10:00:00Z",
    }  # fmt: skip
    (row,) = parsed(lake, payment_charges, json.dumps(sent).encode())
    assert {n: row[n] for n in sent} == sent | {
        "amount": Decimal("12.50"),
        "metadata": {"order_id": "o1", "user_email": "a@b", "subscription_id": None},
        "created_at": datetime(2024, 3, 1, 10, tzinfo=timezone.utc),
    }
    assert (row["ingest_hour"], row["arrived_at"]) == (ARRIVED_IN, ARRIVED)
    assert row["_error"] is None and row["_payload"] is None


def test_a_duplicate_a_late_one_a_null_and_rubbish_are_a_row_each(lake: Lake) -> None:
    late = b'{"event_id": "e0", "created_at": "2024-01-01T00:00:00Z"}'
    found = parsed(lake, payment_charges, late, late, None, b"rubbish", b'{"amount": "much"}')
    assert [(r["kafka_offset"], r["event_id"], r["_error"], r["_payload"]) for r in found] == [
        (0, "e0", None, None),
        (1, "e0", None, None),
        (2, None, "null value", None),
        (3, None, "malformed", b"rubbish"),
        (4, None, "wrong type", b'{"amount": "much"}'),
    ]


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    clean: Row = {"billing_postal_code": "10115", "card_country": "DE", "currency": "EUR"}
    dirty: dict[str, Row] = {
        "parses": clean | {"_error": "malformed"},
        "null_spellings": clean | {"failure_code": " N/A "},
        "country_codes": clean | {"billing_country": "us"},
        "postal_codes_present": clean | {"billing_postal_code": None},
        "currency_case": clean | {"currency": "eur"},
    }
    assert broken_rules(lake, PaymentCharges, clean, *dirty.values()) == ["", *dirty]


@pytest.mark.parametrize(
    ("said", "is_good"),
    [("DE", True), (None, True), ("null", True), ("de", False), ("342", False), ("00", False),
     ("D1", False), ("A[", False), ("USA", False), ("Ä", False), ("ÄÖ", False)],
)  # fmt: skip
def test_a_country_is_two_capital_letters(lake: Lake, said: str | None, is_good: bool) -> None:
    (broken,) = broken_rules(lake, PaymentCharges, {"card_country": said, "currency": "EUR",
                                                    "billing_postal_code": "1"})  # fmt: skip
    assert ("country_codes" not in broken) == is_good


def test_two_contents_of_one_event_show_and_repeated_ones_do_not(lake: Lake) -> None:
    def record(offset: int, id: str, status: str) -> Row:
        place = {"kafka_partition": 0, "kafka_offset": offset, "topic_generation": 0}
        return place | {"event_id": id, "status": status, "updated_at": ARRIVED}

    given = [record(n, *e) for n, e in enumerate([("e1", "a"), ("e1", "a"), ("e2", "a")])]
    add(lake, payment_charges, *given, record(9, "e2", "b"), record(10, "e3", "b"))
    (bad,) = broken_across(lake, payment_charges)["an_event_says_one_thing"]
    assert (bad["event_id"], bad["contents"]) == ("e2", 2)
