from datetime import datetime, timedelta, timezone

import pytest

from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.performance import PERFORMANCE, percentile, tables
from lakehouse_assets.sources.payments.truth.raw import Row

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("ordered", "median", "p95"),
    [
        ([], None, None),
        ([7], 7, 7),
        ([1, 2], 2, 2),  # 1.5 and 1.95
        ([0, 10, 20], 10, 19),
        (list(range(31)), 15, 29),  # 28.5
        ([-2, -1], -2, -1),  # a half goes away from nothing
    ],
)
def test_a_percentile_lies_between_its_neighbours_and_is_rounded_half_up(
    ordered: list[int], median: int | None, p95: int | None
) -> None:
    assert (percentile(ordered, 50), percentile(ordered, 95)) == (median, p95)


def charge(status: str | None, category: str | None = None, minute: int = 0) -> Row:
    made = NOON + timedelta(minutes=minute)
    return {
        "provider": "ADYEN", "status": status, "failure_category": category, "created_at": made,
        "updated_at": made + timedelta(microseconds=2_999), "arrived_at": made,
    }  # fmt: skip


def test_an_hour_counts_its_charges_by_outcome() -> None:
    charges = [charge("succeeded"), charge("failed", minute=59), charge("failed", "declined"),
               charge("pending"), charge(None), charge("pending", minute=60)]  # fmt: skip
    hour, following = tables({PAYMENTS: charges})[PERFORMANCE]
    assert (hour["charges"], hour["pending"], hour["status_unknown"]) == (5, 1, 1)
    assert (hour["authorization_rate"], following["authorization_rate"]) == (1 / 3, None)
    assert (hour["failed_declined"], hour["failed_unknown"]) == (1, 1)
    assert (hour["decision_p50_ms"], hour["delivery_p50_ms"]) == (2, -2)
