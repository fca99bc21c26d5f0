"""Where money moved, and what that leaves each merchant, day by day."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import (
    CURRENCIES,
    DISPUTE_STATUSES,
    REFUND_STATUSES,
)
from lakehouse_assets.sources.payments.truth.meaning import (
    Tables,
    meant,
    minor_units,
    newest,
    units,
    whole,
)
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

REFUNDS, DISPUTES = "staging.stg_payment_refunds", "staging.stg_payment_disputes"
LEDGER, REVENUE = "semantic.payment_ledger", "marts.merchant_revenue_daily"
KEYS: dict[str, tuple[str, ...]] = {
    LEDGER: ("movement_id",),
    REVENUE: ("created_on", "merchant_id", "currency"),
}


def tables(staged: Tables) -> Tables:
    ledger = sorted(_movements(staged), key=lambda row: orderable(row["movement_id"]))
    return {LEDGER: ledger, REVENUE: _revenue(ledger)}


def _movements(staged: Tables) -> Iterable[Row]:
    for charge in staged[PAYMENTS]:
        if charge["status"] == "succeeded":
            yield _movement("charge", "charge_id", charge, +1)
    for refund in newest(staged[REFUNDS], "refund_id"):
        if meant(REFUND_STATUSES, refund["provider"], refund["provider_status"]) == "succeeded":
            yield _movement("refund", "refund_id", refund, -1)
    for dispute in newest(staged[DISPUTES], "dispute_id"):
        status = meant(DISPUTE_STATUSES, dispute["provider"], dispute["provider_status"])
        if status not in (None, "warning", "warning_closed"):
            yield _movement("dispute", "dispute_id", dispute, -1)
        if status == "won":
            yield _movement("reversal", "dispute_id", dispute, +1)


def _movement(kind: str, thing: str, word: Row, sign: int) -> Row:
    said_amount = word["provider_amount"]
    minor, amount = whole(minor_units(word, said_amount)), units(word, said_amount)
    said = ("charge_id", "provider", "merchant_id", "customer_id", "currency", "created_at")
    return {
        "movement_id": f"{kind}:{word[thing]}",
        "kind": kind,
        **{name: word[name] for name in said},
        "amount": None if amount is None else sign * amount,
        "amount_minor": None if minor is None else sign * minor,
        "moved_at": word["updated_at"],
    }


def _revenue(ledger: Iterable[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in ledger:
        groups[row["created_at"].date(), row["merchant_id"], row["currency"]].append(row)
    revenue = []
    for key in sorted(groups, key=lambda key: [orderable(part) for part in key]):
        sums, counts = defaultdict[str, int](int), defaultdict[str, int](int)
        for row in groups[key]:
            sums[row["kind"]] += abs(row["amount_minor"] or 0)
            counts[row["kind"]] += 1
        net = sums["charge"] - sums["refund"] - sums["dispute"] + sums["reversal"]
        digits = CURRENCIES.get(key[2] or "")
        revenue.append({
            **dict(zip(KEYS[REVENUE], key, strict=True)),
            **{f"{kind}s": counts[kind] for kind in ("charge", "refund", "dispute", "reversal")},
            "unvalued": sum(row["amount_minor"] is None for row in groups[key]),
            "gross_minor": sums["charge"],
            "refunded_minor": sums["refund"],
            "disputed_minor": sums["dispute"],
            "reversed_minor": sums["reversal"],
            "net_minor": net,
            "net": None if digits is None else (Decimal(net) / 10**digits).quantize(CENT),
        })  # fmt: skip
    return revenue
