"""analytics.payment_quality_daily: the hours' measures, by day."""

from datetime import date, datetime, timedelta, timezone

from lakehouse_assets.analytics.payment_quality_daily import payment_quality_daily
from lakehouse_assets.analytics.payment_quality_hourly import PaymentQualityHourly
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.payments.truth.quality import DAILY, KEYS
from lakehouse_assets_tests.lake.tables import HOUR, Row, result
from lakehouse_assets_tests.support import rows

MIDNIGHT = datetime(2024, 3, 2, tzinfo=timezone.utc)
FIRST, SECOND = date(2024, 3, 1), date(2024, 3, 2)


def hour(at: datetime, provider: str | None, counted: int, failures: int) -> Row:
    return {
        "topic": "payment_charges", "rule": "parses", "provider": provider, "ingest_hour": at,
        "rows": counted, "failures": failures,
    }  # fmt: skip


def test_hours_are_summed_by_day_and_those_without_provider_on_their_own(lake: Lake) -> None:
    given = [
        hour(MIDNIGHT - HOUR, "STRIPE", 9, 3),
        hour(MIDNIGHT, "STRIPE", 4, 0),
        hour(MIDNIGHT + timedelta(hours=23), "STRIPE", 4, 1),
        hour(MIDNIGHT, None, 5, 5),
        hour(MIDNIGHT + HOUR, "ADYEN", 7, 0),
    ]
    found = result(payment_quality_daily, hours=rows(lake.spark, PaymentQualityHourly, *given))
    measured = [(r["provider"], r["arrived_on"], *list(r.values())[-3:]) for r in found]
    assert measured == [
        (None, SECOND, 5, 5, 1.0), ("ADYEN", SECOND, 7, 0, 0.0),
        ("STRIPE", FIRST, 9, 3, 1 / 3), ("STRIPE", SECOND, 8, 1, 0.125),
    ]  # fmt: skip
    assert payment_quality_daily.name == DAILY
    assert payment_quality_daily.contract.key() == KEYS[DAILY]
