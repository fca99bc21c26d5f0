"""analytics.payment_quality_hourly: what raw's rules count, by provider and hour."""

from collections import Counter
from datetime import datetime, timedelta, timezone

from pyspark.sql import DataFrame

from lakehouse_assets.analytics.payment_quality_hourly import payment_quality_hourly
from lakehouse_assets.lake import scope
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.scope import iso, naive
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments
from lakehouse_assets.sources.payments.truth import delivered, expected
from lakehouse_assets.sources.payments.truth.quality import HOURLY
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.lake.tables import HOUR, Row, result
from lakehouse_assets_tests.support import fresh_topic, rows, same_rows, stored
from lakehouse_assets_tests.topics.records import ingest

MEASURED = payment_quality_hourly.parents
NOON = datetime(2024, 3, 1, 12, tzinfo=timezone.utc)
CHARGES, CUSTOMERS = "payment_charges", "payment_customers"
GOOD = {"billing_postal_code": "10115", "ingest_hour": NOON}  # breaks no rule
DIRT = Dirt(
    null_spelling=0.15, bad_country=0.1, missing_postal_code=0.1, duplicate=0.05, deletion=0.05,
    malformed=0.1, wrong_type=0.02, null_value=0.02, oversized=0,
)  # fmt: skip


def record(offset: int, provider: str | None, **more: object) -> Row:
    place = {"topic_generation": 0, "kafka_partition": 0, "kafka_offset": offset}
    return {**GOOD, **place, "provider": provider, **more}


def frames(lake: Lake, **given: list[Row]) -> dict[str, DataFrame]:
    return {t: rows(lake.spark, MEASURED[t].contract, *given.get(t, [])) for t in MEASURED}


def counted(found: list[Row], topic: str, rule: str) -> list[tuple[object, ...]]:
    return [
        (r["provider"], r["ingest_hour"].hour, r["rows"], r["failures"])
        for r in found
        if (r["topic"], r["rule"]) == (topic, rule)
    ]


def test_every_rule_is_counted_by_provider_and_hour(lake: Lake) -> None:
    found = result(payment_quality_hourly, **frames(
        lake,
        payment_charges=[
            record(0, "Stripe"),
            record(1, " sTripe ", failure_code="NULL", card_country="342"),
            record(2, "Stripe", ingest_hour=NOON + HOUR, currency="usd"),
            record(3, "adyen", billing_postal_code=None),
            record(4, "null"),
            record(5, None, _error="malformed", billing_postal_code=None),
        ],
        payment_customers=[{"ingest_hour": NOON, "is_deletion": True}],
    ))  # fmt: skip
    rules = Counter(r["topic"] for r in found)
    assert rules == {CHARGES: 4 * 5, CUSTOMERS: 2}  # of four groups and of one, each rule
    assert counted(found, CHARGES, "parses") == [
        (None, 12, 2, 1), ("ADYEN", 12, 1, 0), ("STRIPE", 12, 2, 0), ("STRIPE", 13, 1, 0),
    ]  # fmt: skip
    broken = {(r["rule"], r["provider"], r["ingest_hour"].hour) for r in found if r["failures"]}
    assert broken == {
        ("parses", None, 12), ("null_spellings", "STRIPE", 12), ("country_codes", "STRIPE", 12),
        ("currency_case", "STRIPE", 13), ("postal_codes_present", "ADYEN", 12),
    }  # fmt: skip
    assert counted(found, CUSTOMERS, "parses") == [(None, 12, 1, 0)]


def arrive(lake: Lake, hour: datetime, *given: Row, again: bool = False) -> None:
    """Charges of an hour, as ingestion stores them; or all of it anew, as after a replay."""
    table = MEASURED[CHARGES]
    lake.catalog.ensure(table.contract)
    head, frame = lake.catalog.head(table.name), rows(lake.spark, table.contract, *given)
    span = scope.as_ranges([(naive(hour), naive(hour + HOUR))])
    stamp = scope.next_stamp(head.stamp, at="ingest_hour", ranges=span, corrects=again)
    where = f"ingest_hour = timestamp'{iso(hour)}'"
    mode = "replace" if again else "append"
    publish(lake, table.contract, head, Change(frame, mode, stamp, where=where, carry=not again))


def test_only_the_hours_in_which_records_came_are_measured_again(lake: Lake) -> None:
    later = {"ingest_hour": NOON + HOUR}
    unparsed = record(2, None, **later, _error="malformed")
    steps = [
        (NOON, [record(0, "Stripe")], False),
        (NOON + HOUR, [record(1, "Stripe", **later), unparsed], False),
        (NOON + HOUR, [record(1, "Stripe", **later), record(2, "Adyen", **later)], True),
    ]
    for hour, given, again in steps:
        arrive(lake, hour, *given, again=again)
        (published,) = advance(lake, payment_quality_hourly).published
    assert published.stamp.at == "ingest_hour"
    assert published.stamp.ranges == scope.as_ranges([(naive(NOON + HOUR), naive(NOON + 2 * HOUR))])
    found = stored(HOURLY, *payment_quality_hourly.contract.columns, COMMIT)
    assert sorted(counted(found, CHARGES, "parses")) == [
        ("ADYEN", 13, 1, 0), ("STRIPE", 12, 1, 0), ("STRIPE", 13, 1, 0),
    ]  # fmt: skip
    assert {r[COMMIT] for r in found if r["ingest_hour"] == NOON} == {1}


def test_the_measures_of_generated_records_are_the_truth(lake: Lake) -> None:
    events = payments(3, 3_000, FIRST_DAY, DIRT)
    told = expected(delivered(events, FIRST_DAY, timedelta(seconds=5)))
    bookkeeping = {"error": "_error"}
    given = {
        topic: [
            {bookkeeping.get(n, n): v for n, v in row.items() if n != "has_unknown_fields"}
            for row in told[f"raw.{topic}"]
        ]
        for topic in MEASURED
    }
    same_rows(result(payment_quality_hourly, **frames(lake, **given)), told[HOURLY])
    failing = {(r["topic"], r["rule"]) for r in told[HOURLY] if r["failures"]}
    assert failing == {(t, r.name) for t in MEASURED for r in MEASURED[t].contract.all_rules()}


def test_the_measures_and_the_checks_of_raw_agree(lake: Lake) -> None:
    topics = (CHARGES, CUSTOMERS)
    for topic in topics:
        fresh_topic(topic)
        ensure_topic(topic)
    made = list(payments(5, 600, now() - timedelta(seconds=600), DIRT, only=topics))
    for part in (made[:400], made[400:]):
        produce(part)
        for topic in topics:
            ingest(lake, MEASURED[topic])
        advance(lake, payment_quality_hourly)
    assert by_rule_and_hour() == by_the_checks(lake, *topics)


def by_rule_and_hour() -> dict[tuple[str, str, str], list[int]]:
    sums: dict[tuple[str, str, str], list[int]] = {}
    for row in stored(HOURLY):
        counts = sums.setdefault((row["topic"], row["rule"], iso(row["ingest_hour"])), [0, 0])
        counts[0] += row["rows"]
        counts[1] += row["failures"]
    return sums


def by_the_checks(lake: Lake, *topics: str) -> dict[tuple[str, str, str], list[int]]:
    """Each hour's newest tally covers the whole of it."""
    found = {
        (topic, rule, tally["hour"]): [tally["rows"], failed]
        for topic in topics
        for tally in reversed(lake.catalog.head(MEASURED[topic].name).tallies)
        for rule, failed in tally["failed"].items()
    }
    assert sum(failed for _, failed in found.values()) > 50
    return found
