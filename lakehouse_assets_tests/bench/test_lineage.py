"""The figures of the bench, with so few rows that they mean nothing."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.bench import lineage
from lakehouse_assets.bench._lab import catch_up, lab
from lakehouse_assets.commands.common import tables
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import TOPICS, payments
from lakehouse_assets.sources.produce import ensure_topic, produce

DAILY = "marts.payments_daily"
ABOVE = ("raw.payment_charges", "raw.payment_customers", "raw.payment_merchants",
         "staging.stg_payment_charges", "staging.stg_payment_customers",
         "staging.stg_payment_merchants", "semantic.payments", DAILY)  # fmt: skip


def test_it_tells_rates_and_traces_rows_of_the_marts_that_there_are_to_kafka() -> None:
    with lab(Kafka(), Spark()) as place:
        told = lineage.ingested(place, rows=3_000, warmup=0, repeats=1, seed=7)
        with place.lake("few") as lake:
            for topic in TOPICS:
                ensure_topic(topic)
            produce(payments(7, 300, datetime.now(timezone.utc) - timedelta(seconds=300)))
            catch_up(lake, [tables()[name] for name in ABOVE])
            told |= lineage.of_marts(lake, 5, 7)
    assert (told["rows"], told["warmed_by_rows"]) == (3_000, 0)
    assert told["rows_per_s"] > 0 and told["rows_per_cpu_s"] > 0 and told["trace_s"] > 0
    assert told["traced_pct"] == 100 and [*told["marts"]] == [DAILY]
    assert told["marts"][DAILY]["rows"] == 5
