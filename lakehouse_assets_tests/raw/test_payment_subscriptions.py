"""raw.payment_subscriptions: every record one row, as it was sent."""

import json
from datetime import datetime, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_subscriptions import (
    PaymentSubscriptions,
    payment_subscriptions,
)
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed

NOON = datetime(2024, 3, 1, 12, tzinfo=timezone.utc)


def test_a_subscription_is_typed_and_otherwise_as_it_was_sent(lake: Lake) -> None:
    sent = {
        "event_id": "e1", "subscription_id": "s1", "plan_interval": "1 month",
        "plan_amount": 9.5, "trial_start_at": "2024-03-01T12:00:00Z", "trial_end_at": None,
        "discount_percent": 25, "promo_code": "", "canceled_at": None,
    }  # fmt: skip
    (row,) = parsed(lake, payment_subscriptions, json.dumps(sent).encode())
    typed = {"plan_amount": Decimal("9.50"), "trial_start_at": NOON}
    assert {n: row[n] for n in sent} == sent | typed
    assert row["_error"] is None and row["_payload"] is None


def test_a_duplicate_a_null_and_wrong_types_are_a_row_each(lake: Lake) -> None:
    good, wrong = b'{"event_id": "e0"}', b'{"discount_percent": "ten"}'
    found = parsed(lake, payment_subscriptions, good, good, None, wrong)
    assert [(r["event_id"], r["_error"]) for r in found] == [
        ("e0", None), ("e0", None), (None, "null value"), (None, "wrong type"),
    ]  # fmt: skip


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    clean: Row = {
        "status": "trialing", "trial_start_at": NOON, "trial_end_at": NOON,
        "discount_percent": 10, "promo_code": "SPRING", "plan_interval": "month",
    }  # fmt: skip
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "trial_dates_present": clean | {"status": "Trialing ", "trial_end_at": None},
        "promo_codes_present": clean | {"promo_code": " "},
        "interval_vocabulary": clean | {"plan_interval": "Monthly"},
    }
    assert broken_rules(lake, PaymentSubscriptions, clean, *dirty.values()) == ["", *dirty]
    unbound: Row = clean | {"status": "active", "trial_end_at": None, "discount_percent": None}
    assert broken_rules(lake, PaymentSubscriptions, unbound) == [""]
