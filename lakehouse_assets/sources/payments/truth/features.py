"""What a customer did in the hour up to each charge, and who did too much of it."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal

from lakehouse_assets.sources.payments.truth.meaning import Tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

FEATURES, WATCHLIST = "analytics.customer_risk_features", "marts.fraud_watchlist"
KEYS: dict[str, tuple[str, ...]] = {
    FEATURES: ("charge_id",),
    WATCHLIST: ("flagged_on", "customer_id"),
}
HOUR, CAP = timedelta(hours=1), timedelta(days=30)
LIMITS = (  # by name; what is as great as its limit is told
    ("avg_risk_1h", 75), ("cards_1h", 4), ("countries_1h", 3), ("failures_1h", 5),
    ("transactions_1h", 10),
)  # fmt: skip


def tables(staged: Tables) -> Tables:
    features = sorted(risk_features(staged[PAYMENTS]), key=lambda row: orderable(row["charge_id"]))
    return {FEATURES: features, WATCHLIST: _watchlist(features)}


def risk_features(payments: Iterable[Row]) -> Iterator[Row]:
    customers: dict[str, list[Row]] = defaultdict(list)
    for charge in sorted(payments, key=lambda charge: charge["created_at"]):
        if charge["customer_id"] is None:
            yield _features(charge, [charge], None)
        else:
            customers[charge["customer_id"]].append(charge)
    for charges in customers.values():
        times = [charge["created_at"] for charge in charges]
        for charge in charges:
            at = charge["created_at"]
            hour = charges[bisect_left(times, at - HOUR) : bisect_right(times, at)]
            earlier = bisect_left(times, at)
            yield _features(charge, hour, at - times[earlier - 1] if earlier else None)


def _features(charge: Row, hour: list[Row], pause: timedelta | None) -> Row:
    currency, scores = charge["currency"], [c["risk_score"] for c in hour]
    scores = [score for score in scores if score is not None]
    amounts = [c["amount"] for c in hour if c["currency"] == currency]
    cards = {c["payment_method_id"] or _card(c) for c in hour} - {None}
    before = [c for c in hour if c["created_at"] < charge["created_at"]]
    return {
        "charge_id": charge["charge_id"],
        "customer_id": charge["customer_id"],
        "created_at": charge["created_at"],
        "currency": currency,
        "transactions_1h": len(hour),
        "total_amount_1h": sum(amounts, Decimal(0)).quantize(CENT) if currency else None,
        "avg_risk_1h": sum(scores) / len(scores) if scores else None,
        "cards_1h": len(cards),
        "countries_1h": len({c["card_country"] for c in hour} - {None}),
        "failures_1h": sum(c["status"] == "failed" for c in before),
        "since_last_charge_s": pause // timedelta(seconds=1)
        if pause is not None and pause <= CAP
        else None,
    }


def _card(charge: Row) -> str | None:
    """How a card is known whose provider gives it no id."""
    known = charge["card_brand"] and charge["card_last4"]
    return charge["card_brand"] + charge["card_last4"] if known else None


def _watchlist(features: Iterable[Row]) -> list[Row]:
    days: dict[tuple[date, str], list[Row]] = defaultdict(list)
    for row in features:
        if row["customer_id"] is not None:
            days[row["created_at"].date(), row["customer_id"]].append(row)
    watched = []
    for day, who in sorted(days):
        rows = days[day, who]
        crossed = [{name for name, limit in LIMITS if (row[name] or 0) >= limit} for row in rows]
        if any(crossed):
            told = [name for name, _ in LIMITS if any(name in names for names in crossed)]
            worst = {name: _greatest(row[name] for row in rows) for name, _ in LIMITS}
            watched.append({
                "flagged_on": day,
                "customer_id": who,
                "reasons": ", ".join(f"{name} >= {dict(LIMITS)[name]}" for name in told),
                "charges": len(rows),
                "flagged_charges": sum(map(bool, crossed)),
                **worst,
            })  # fmt: skip
    return watched


def _greatest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
