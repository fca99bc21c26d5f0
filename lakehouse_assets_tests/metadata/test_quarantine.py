from datetime import datetime, timezone
from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.metadata.quarantine import mentions, transform
from lakehouse_assets.raw.payment_charges import PaymentCharges
from lakehouse_assets.raw.webhooks_other import WebhooksOther
from lakehouse_assets_tests.support import rows

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
PLACE = {"topic_generation": 0, "kafka_partition": 0, "ingest_hour": NOON, "arrived_at": NOON}
GOOD = {
    "event_id": "e1", "charge_id": "c1", "provider": "Stripe", "amount": Decimal(5),
    "created_at": NOON, "updated_at": NOON,
}  # fmt: skip


def test_an_unparsed_record_and_a_refused_one_are_listed_and_a_good_one_is_not(lake: Lake) -> None:
    raw = rows(
        lake.spark,
        PaymentCharges,
        {**PLACE, **GOOD, "kafka_offset": 0},
        {**PLACE, "kafka_offset": 1, "_error": "malformed"},
        {**PLACE, **GOOD, "kafka_offset": 2, "event_id": None, "amount": Decimal(-1)},
    )
    listed = [
        (r["kafka_offset"], r["stage"], r["refused_by"], r["reason"])
        for r in transform(payment_charges=raw).orderBy("kafka_offset").collect()
    ]
    assert listed == [
        (1, "parse", None, "malformed"),
        (
            2, "staging", "staging.stg_payment_charges",
            "event_id_present, provider_amount_not_negative",
        ),
    ]


def test_a_good_record_is_mentioned_too_so_that_a_replayed_one_leaves(lake: Lake) -> None:
    raw = rows(lake.spark, PaymentCharges, {**PLACE, **GOOD, "kafka_offset": 7})
    (found,) = mentions("payment_charges", raw, {}).drop("ingest_hour").collect()
    assert tuple(found) == ("raw.payment_charges", 0, 0, 7)


def test_of_one_raw_table_each_staging_table_refuses_its_own_records(lake: Lake) -> None:
    said = [
        {"_error": "malformed"}, {"_vendor": "hubspot", "_webhook_topic": "deal.creation"},
        {"_vendor": "shopify", "_webhook_topic": "refunds/create", "id": "1", "order_id": "2",
         "created_at": "2026-05-04T12:00:00Z"},
        {"_vendor": "stripe", "_webhook_topic": "charge.dispute.created", "created": "1777896000",
         "data": '{"object":{"id":"dp_1","charge":"ch_1","amount":1,"currency":"eur",'
                 '"created":1777896000}}'},
    ]  # fmt: skip
    numbered = [PLACE | one | {"kafka_offset": n} for n, one in enumerate(said)]
    raw = rows(lake.spark, WebhooksOther, *numbered)
    found = transform(webhooks_other=raw).orderBy("kafka_offset").collect()
    assert [(r["kafka_offset"], r["refused_by"], r["reason"]) for r in found] == [
        (0, None, "malformed"), (2, "staging.stg_shopify_refunds", "amount_present"),
        (3, "staging.stg_stripe_disputes", "status_present"),
    ]  # fmt: skip
