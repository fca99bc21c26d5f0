"""analytics.charge_deliveries: every good record of a charge, cleaned as far as features look."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.analytics.charge_deliveries import charge_deliveries
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.payment_charges import PaymentCharges
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, charges, truth
from lakehouse_assets.sources.payments.truth.training import DELIVERIES
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows, same_rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)


def record(offset: int, **more: object) -> Row:
    return {
        "event_id": "e1", "charge_id": "c1", "customer_id": "x", "provider": "stripe",
        "amount": Decimal(500), "currency": "eur", "status": "succeeded", "risk_score": 40,
        "payment_method_id": "pm1", "card_country": "DE", "created_at": AT, "updated_at": AT,
        "arrived_at": AT + timedelta(minutes=offset), "ingest_hour": AT, "kafka_partition": 0,
        "kafka_offset": offset, "topic_generation": 0, **more,
    }  # fmt: skip


def delivered(lake: Lake, *records: Row) -> dict[int, Row]:
    found = result(charge_deliveries, charges=rows(lake.spark, PaymentCharges, *records))
    return {row["kafka_offset"]: row for row in found}


def test_every_version_and_every_repetition_stands_with_its_arrival(lake: Lake) -> None:
    found = delivered(lake, record(0), record(1), record(2, status="failed"))
    assert [(o, row["arrived_at"] - AT, row["is_failed"]) for o, row in sorted(found.items())] == [
        (0, timedelta(minutes=0), False),
        (1, timedelta(minutes=1), False),
        (2, timedelta(minutes=2), True),
    ]
    assert (found[0]["amount"], found[0]["currency"]) == (Decimal("5.00"), "EUR")


def test_without_a_number_the_card_is_told_by_its_looks(lake: Lake) -> None:
    looks = {"payment_method_id": "null", "card_brand": "visa", "card_last4": "4242"}
    found = delivered(lake, record(0, **looks), record(1, **(looks | {"card_last4": None})))
    assert found[0]["card"] == "visa4242" and found[1]["card"] is None


def test_what_did_not_parse_or_is_refused_tells_nothing(lake: Lake) -> None:
    bad = [record(1, _error="malformed"), record(2, provider=None), record(3, created_at=None)]
    assert set(delivered(lake, record(0), *bad)) == {0}


def test_generated_charges_dirt_and_all_give_the_truth(lake: Lake) -> None:
    dirt = Dirt(duplicate=0.1, redelivery=0.1, late=0.1, tie_event=0.05, oversized=0)
    start = FIRST_DAY
    events = list(charges(5, 500, start, dirt, interval=timedelta(seconds=2)))
    expected = truth.expected(truth.delivered(events, start, timedelta(seconds=2)))
    raw = [
        {n: v for n, v in row.items() if n in PaymentCharges.columns}
        | {"_error": row["error"], "topic_generation": 0}
        for row in expected["raw.payment_charges"]
    ]
    found = result(charge_deliveries, charges=rows(lake.spark, PaymentCharges, *raw))
    same_rows(found, expected[DELIVERIES])
