"""analytics.provider_performance_hourly: what an hour's charges say of their provider."""

from datetime import date, datetime, timedelta, timezone

from lakehouse_assets.analytics.provider_performance_hourly import (
    CATEGORIES,
    ProviderPerformanceHourly,
    provider_performance_hourly,
)
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.payments import Payments
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments
from lakehouse_assets.sources.payments.providers import FAILURES
from lakehouse_assets.sources.payments.truth import delivered, expected
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.performance import PERFORMANCE
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import broken_rules, rows, same_rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)


def charge(id: str, status: str | None, took: float = 0, **more: object) -> Row:
    """A charge made at ten, with its last word some milliseconds later, which came at once."""
    updated_at = more.pop("updated_at", AT + took * MILLISECOND)
    return {
        "charge_id": id, "provider": "STRIPE", "status": status, "created_at": AT,
        "updated_at": updated_at, "arrived_at": updated_at, **more,
    }  # fmt: skip


def hours(lake: Lake, *charges: Row) -> list[Row]:
    found = rows(lake.spark, Payments, *charges)
    return result(provider_performance_hourly, payments=found)


def test_an_hours_charges_are_counted_by_provider_and_outcome(lake: Lake) -> None:
    late = AT + timedelta(hours=1) - timedelta(microseconds=1)
    found = hours(
        lake,
        charge("1", "succeeded"),
        charge("2", "succeeded", created_at=late),
        charge("3", "failed", failure_category="declined"),
        charge("4", "pending", failure_category="declined"),  # not failed: no failure
        charge("5", None),
        charge("6", "failed", provider="ADYEN"),
        charge("7", "pending", created_at=AT + timedelta(hours=1)),
    )
    counts = ("charges", "succeeded", "failed", "pending", "status_unknown", "authorization_rate")
    keyed = {(r["provider"], r["started_at"]): tuple(r[c] for c in counts) for r in found}
    assert keyed == {
        ("STRIPE", AT): (5, 2, 1, 1, 1, 2 / 3),
        ("ADYEN", AT): (1, 0, 1, 0, 0, 0.0),
        ("STRIPE", AT + timedelta(hours=1)): (1, 0, 0, 1, 0, None),
    }
    assert {row["created_on"] for row in found} == {date(2024, 3, 1)}


def test_failures_are_counted_by_category_and_add_up(lake: Lake) -> None:
    assert all(tuple(known) == CATEGORIES for known in FAILURES.values())
    failed = [
        charge(str(n), "failed", failure_category=category)
        for n, category in enumerate([*CATEGORIES, "declined", None, None])
    ]
    (row,) = hours(lake, *failed, charge("last", "succeeded"))
    found = {name: row[f"failed_{name}"] for name in (*CATEGORIES, "unknown")}
    assert found == {**dict.fromkeys(CATEGORIES, 1), "declined": 2, "unknown": 2}
    wrong = row | {"failed_unknown": 0}, row | {"pending": 1}
    named = ["", "failures_add_up", "charges_add_up"]
    assert broken_rules(lake, ProviderPerformanceHourly, row, *wrong) == named


def test_times_lie_between_their_neighbours_and_are_rounded_half_up(lake: Lake) -> None:
    (row,) = hours(
        lake,
        charge("1", "succeeded", 10),
        charge("2", "failed", 21),
        charge("3", "pending", 9_000, arrived_at=AT + 8_000 * MILLISECOND),
        charge("4", None, 9_000),
    )
    assert (row["decision_p50_ms"], row["decision_p95_ms"]) == (16, 20)  # 15.5 and 20.45
    assert (row["delivery_p50_ms"], row["delivery_p95_ms"]) == (0, 0)
    (ahead,) = hours(lake, charge("1", "pending", 9, arrived_at=AT - MILLISECOND))
    assert (ahead["decision_p50_ms"], ahead["decision_p95_ms"]) == (None, None)
    assert (ahead["delivery_p50_ms"], ahead["delivery_p95_ms"]) == (-10, -10)


def test_a_half_that_a_double_misses_by_a_hair_is_rounded_up_all_the_same(lake: Lake) -> None:
    two = [charge(f"two {took}", "failed", took) for took in (2, 12)]
    four = [charge(f"four {took}", "failed", took, provider="ADYEN") for took in (0, 10, 20, 30)]
    found = {row["provider"]: row["decision_p95_ms"] for row in hours(lake, *two, *four)}
    assert found == {"STRIPE": 12, "ADYEN": 29}  # 11.5 and 28.5; as doubles less than that


def test_dirty_charges_become_the_truth(lake: Lake) -> None:
    dirt = Dirt(redelivery=0.05, late=0.05, tie_event=0.02, tie_state=0.02, oversized=0)
    events = payments(6, 3_000, FIRST_DAY, dirt)
    truth = expected(delivered(events, FIRST_DAY + timedelta(hours=1)))
    same_rows(hours(lake, *truth[PAYMENTS]), truth[PERFORMANCE])
