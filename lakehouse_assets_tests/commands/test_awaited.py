"""Which tables the demo waits for, and for what."""

from datetime import timedelta
from pathlib import Path

from lakehouse_assets.commands.awaited import to_be_made, unheard
from lakehouse_assets.commands.glance import glances
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.payments import CHARGES, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.semantic.people import SHOP, STRIPE, known, tell
from lakehouse_assets_tests.support import fresh_topic

ALWAYS = {"metadata.check_history", "metadata.commit_log", "metadata.incremental_watermarks"}
OF_CHARGES = {
    "raw.payment_charges", "staging.stg_payment_charges", "semantic.payments",
    "semantic.payment_ledger", "analytics.payment_quality_hourly", "analytics.charge_decisions",
    "analytics.charge_deliveries",
    "analytics.payment_quality_daily", "analytics.provider_performance_hourly",
    "analytics.fraud_training_set", "marts.payments_daily", "marts.merchant_revenue_daily",
    "analytics.customer_risk_features", "marts.fraud_watchlist", "analytics.payer_days",
    "metadata.quarantine",
}  # fmt: skip


def test_a_table_whose_topic_is_missing_or_empty_is_not_waited_for(empty_lake: Path) -> None:
    for topic in {t.topic for t in tables().values() if t.topic}:
        fresh_topic(topic)
    ensure_topic(CHARGES)
    assert to_be_made(set()) == ALWAYS
    produce(charges(7, 5, now() - timedelta(seconds=5)))
    assert to_be_made(set()) == ALWAYS | OF_CHARGES
    fresh_topic(CHARGES)
    assert to_be_made({"raw.payment_charges"}) == ALWAYS | OF_CHARGES


def test_a_parent_that_came_after_its_child_is_waited_for_until_it_is_read(lake: Lake) -> None:
    def waiting() -> str:
        return unheard(glances(with_kafka=False))

    index = tables()["semantic.entity_index"]
    tell(lake, STRIPE, known("c1"))
    advance(lake, index)
    assert not waiting()
    tell(lake, SHOP, known(1))
    assert waiting() == index.name
    advance(lake, index)
    assert not waiting()
