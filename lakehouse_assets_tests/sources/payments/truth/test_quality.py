"""The oracle's own rules of raw, each shown by a record that breaks it and one that does not."""

import json
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from lakehouse_assets.sources.payments.truth import Delivered, expected
from lakehouse_assets.sources.payments.truth.quality import DAILY, HOURLY

LAST = datetime(2026, 5, 4, 23, 59, 59, tzinfo=timezone.utc)
CHARGES, REFUNDS, DISPUTES = "payment_charges", "payment_refunds", "payment_disputes"
SUBSCRIPTIONS, CUSTOMERS, MERCHANTS = (
    "payment_subscriptions", "payment_customers", "payment_merchants",
)  # fmt: skip


def broken(topic: str, value: bytes | None) -> set[str]:
    told = expected([Delivered(topic, 0, 0, LAST, None, value)])[HOURLY]
    return {row["rule"] for row in told if row["failures"]}


@pytest.mark.parametrize(
    ("topic", "rule", "bad", "good"),
    [
        (CHARGES, "null_spellings", {"card_brand": " NULL"}, {"card_brand": "   null"}),
        (CHARGES, "null_spellings", {"metadata": {"subscription_id": ""}}, {"metadata": None}),
        (CHARGES, "country_codes", {"card_country": "us"}, {"card_country": "US"}),
        (CHARGES, "country_codes", {"billing_country": "US\n"}, {"billing_country": None}),
        (CHARGES, "postal_codes_present", {"billing_postal_code": "n/a"},
         {"billing_postal_code": "1"}),
        (CHARGES, "currency_case", {"currency": "eUR"}, {"currency": "EUR"}),
        (REFUNDS, "status_present", {"status": "null"}, {"status": "pending"}),
        (REFUNDS, "reason_vocabulary", {"reason": "dup"}, {"reason": "duplicate"}),
        (REFUNDS, "support_ticket_present", {"metadata": None},
         {"metadata": {"support_ticket_id": "t1"}}),
        (DISPUTES, "evidence_metadata_present", {"evidence": {"metadata": None}},
         {"evidence": {"metadata": {"submitted_by": "m"}}}),
        (DISPUTES, "currency_present", {}, {"currency": "usd"}),
        (DISPUTES, "case_numbers_whole", {"case_number": "CB-2026"},
         {"case_number": "CB-2026-000001"}),
        (SUBSCRIPTIONS, "trial_dates_present", {"status": " Trialing"}, {"status": "active"}),
        (SUBSCRIPTIONS, "promo_codes_present", {"discount_percent": 5},
         {"discount_percent": 5, "promo_code": "x"}),
        (SUBSCRIPTIONS, "interval_vocabulary", {"plan_interval": "Monthly"},
         {"plan_interval": "month"}),
        (CUSTOMERS, "null_spellings", {"segment": "None"}, {"segment": None}),
        (MERCHANTS, "null_spellings", {"category": "nil"}, {"category": "food"}),
    ],
)  # fmt: skip
def test_a_rule_is_broken_by_what_it_is_about(
    topic: str, rule: str, bad: dict[str, Any], good: dict[str, Any]
) -> None:
    assert rule in broken(topic, json.dumps(bad).encode())
    assert rule not in broken(topic, json.dumps(good).encode())


def test_of_a_record_that_does_not_parse_only_that_is_known() -> None:
    for topic in (CHARGES, REFUNDS, DISPUTES, SUBSCRIPTIONS, CUSTOMERS):
        assert broken(topic, b"<html>") == {"parses"}
    assert broken(CUSTOMERS, None) == set()  # a deletion


def test_records_count_in_their_hour_or_the_lakes_first_under_their_provider() -> None:
    providers = ["Stripe", " STRIPE ", "null", None]
    records = [
        Delivered(CHARGES, 0, n, LAST + n * timedelta(seconds=1), None,
                  json.dumps({"provider": provider}).encode())
        for n, provider in enumerate(providers)
    ]  # fmt: skip
    told = expected(records)
    parsed = [row for row in told[HOURLY] if row["rule"] == "parses"]
    assert [(r["provider"], r["ingest_hour"].hour, r["rows"]) for r in parsed] == [
        ("STRIPE", 23, 1), ("STRIPE", 0, 1), (None, 0, 2),
    ]  # fmt: skip
    missing = [row for row in told[DAILY] if row["rule"] == "postal_codes_present"]
    assert [(r["provider"], r["arrived_on"], r["rows"], r["share"]) for r in missing] == [
        ("STRIPE", date(2026, 5, 4), 1, 1.0), ("STRIPE", date(2026, 5, 5), 1, 1.0),
        (None, date(2026, 5, 5), 2, 1.0),
    ]  # fmt: skip
    first = (LAST + timedelta(seconds=1)).replace(microsecond=0)
    late = [r for r in expected(records, first)[HOURLY] if r["rule"] == "parses"]
    assert [(r["provider"], r["ingest_hour"], r["rows"]) for r in late] == [
        ("STRIPE", first, 2), (None, first, 2),
    ]  # fmt: skip
