"""How the providers did in each hour."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.sources.payments.truth.meaning import Tables, whole
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import Row

PERFORMANCE = "analytics.provider_performance_hourly"
KEYS: dict[str, tuple[str, ...]] = {PERFORMANCE: ("started_at", "provider")}

CATEGORIES = (
    "declined", "insufficient_funds", "expired_card", "wrong_details", "suspected_fraud",
    "processing_error",
)  # fmt: skip
EPOCH, MILLISECOND = datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta(milliseconds=1)


def tables(told: Tables) -> Tables:
    hours: dict[tuple[datetime, str], list[Row]] = defaultdict(list)
    for row in told[PAYMENTS]:
        started_at = row["created_at"].replace(minute=0, second=0, microsecond=0)
        hours[started_at, row["provider"]].append(row)
    return {PERFORMANCE: [_hour(*key, hours[key]) for key in sorted(hours)]}


def _hour(started_at: datetime, provider: str, charges: list[Row]) -> Row:
    succeeded = [row for row in charges if row["status"] == "succeeded"]
    failed = [row for row in charges if row["status"] == "failed"]
    decided = succeeded + failed
    why = [row["failure_category"] for row in failed]
    return {
        "started_at": started_at,
        "provider": provider,
        "created_on": started_at.date(),
        "charges": len(charges),
        "succeeded": len(succeeded),
        "failed": len(failed),
        "pending": sum(row["status"] == "pending" for row in charges),
        "status_unknown": sum(row["status"] is None for row in charges),
        "authorization_rate": len(succeeded) / len(decided) if decided else None,
        **{f"failed_{category}": why.count(category) for category in CATEGORIES},
        "failed_unknown": why.count(None),
        **_percentiles("decision", (_ms(r["created_at"], r["updated_at"]) for r in decided)),
        **_percentiles("delivery", (_ms(r["updated_at"], r["arrived_at"]) for r in charges)),
    }


def _ms(begin: datetime, end: datetime) -> int:
    """Between the milliseconds in which they lie."""
    return (end - EPOCH) // MILLISECOND - (begin - EPOCH) // MILLISECOND


def _percentiles(what: str, times: Iterable[int]) -> Row:
    ordered = sorted(times)
    return {f"{what}_p{percent}_ms": percentile(ordered, percent) for percent in (50, 95)}


def percentile(ordered: list[int], percent: int) -> int | None:
    """Between its two neighbours as far as its rank lies between theirs; half up."""
    if not ordered:
        return None
    below, hundredths = divmod((len(ordered) - 1) * percent, 100)
    above = min(below + 1, len(ordered) - 1)
    sum_of_both = ordered[below] * (100 - hundredths) + ordered[above] * hundredths
    return whole(Decimal(sum_of_both) / 100)
