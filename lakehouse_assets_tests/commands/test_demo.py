"""Which tables the demo waits for; the whole of it is in integration/."""

from datetime import timedelta
from pathlib import Path

from lakehouse_assets.commands.demo import to_be_made
from lakehouse_assets.sources.payments import CHARGES, TOPICS, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.support import fresh_topic

ALWAYS = {"metadata.check_history", "metadata.incremental_watermarks"}
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
    for topic in TOPICS:
        fresh_topic(topic)
    ensure_topic(CHARGES)
    assert to_be_made(set()) == ALWAYS
    produce(charges(7, 5, now() - timedelta(seconds=5)))
    assert to_be_made(set()) == ALWAYS | OF_CHARGES
    fresh_topic(CHARGES)
    assert to_be_made({"raw.payment_charges"}) == ALWAYS | OF_CHARGES
