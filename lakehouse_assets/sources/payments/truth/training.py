"""What was known of a charge when it was decided on, and what became of it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.payments.providers import CHARGE_STATUSES
from lakehouse_assets.sources.payments.record import CHARGES
from lakehouse_assets.sources.payments.truth import rules, staging
from lakehouse_assets.sources.payments.truth.disputes import LIFECYCLE
from lakehouse_assets.sources.payments.truth.meaning import Tables, meant, units
from lakehouse_assets.sources.payments.truth.raw import CENT, Row
from lakehouse_assets.sources.payments.truth.staging import orderable

DELIVERIES, DECISIONS = "analytics.charge_deliveries", "analytics.charge_decisions"
TRAINING = "analytics.fraud_training_set"
KEYS: dict[str, tuple[str, ...]] = {
    DELIVERIES: ("kafka_partition", "kafka_offset"),
    DECISIONS: ("charge_id",),
    TRAINING: ("charge_id",),
}
TOLD = ("kafka_partition", "kafka_offset", "event_id", "charge_id", "updated_at", "arrived_at")
HOUR, LABELLED = timedelta(hours=1), timedelta(days=60)
SAID = ("customer_id", "currency", "amount", "risk_score", "card", "country", "is_failed",
        "created_at")  # fmt: skip


def tables(staged: Tables) -> Tables:
    heard = list(_heard(staged[f"raw.{CHARGES.topic}"]))
    decisions = list(_decisions(heard))
    lost = defaultdict(list)
    for dispute in staged[LIFECYCLE]:
        if dispute["status"] == "lost":
            lost[dispute["charge_id"]].append(dispute["closed_at"])
    training = []
    for row in decisions:
        final = row["created_at"] + LABELLED
        is_lost = any(at <= final for at in lost[row["charge_id"]])
        training.append(row | {"is_lost_within_60_days": is_lost, "label_final_at": final})
    first = {"topic_generation": 0}  # of a topic that was never made anew
    deliveries = [first | {name: row[name] for name in (*TOLD, *SAID)} for row in heard]
    return {DELIVERIES: deliveries, DECISIONS: decisions, TRAINING: training}


def _heard(raw: list[Row]) -> Iterable[Row]:
    for record in raw:
        if record["error"]:
            continue
        came = {n: record[n] for n in ("kafka_partition", "kafka_offset", "arrived_at")}
        row = staging.cleaned(CHARGES.topic, record) | came
        if rules.refused(CHARGES.topic, row):
            continue
        card = row["payment_method_id"]
        if card is None and row["card_brand"] is not None and row["card_last4"] is not None:
            card = row["card_brand"] + row["card_last4"]
        status = meant(CHARGE_STATUSES, row["provider"], row["provider_status"])
        yield row | {
            "amount": units(row, row["provider_amount"]),
            "card": card,
            "country": row["card_country"],
            "is_failed": status == "failed",
        }


def _version(row: Row) -> tuple[Any, ...]:
    return tuple(orderable(row[name]) for name in ("updated_at", "event_id", *SAID))


def _decisions(heard: list[Row]) -> Iterable[Row]:
    by_charge: dict[str, list[Row]] = defaultdict(list)
    by_customer: dict[Any, list[Row]] = defaultdict(list)
    for row in heard:
        by_charge[row["charge_id"]].append(row)
        by_customer[row["customer_id"] or ("alone", row["charge_id"])].append(row)
    for charge in sorted(by_charge):
        decided_at = min(row["arrived_at"] for row in by_charge[charge])
        first = [row for row in by_charge[charge] if row["arrived_at"] == decided_at]
        own = max(first, key=_version)
        theirs = by_customer[own["customer_id"] or ("alone", charge)]
        known: dict[str, Row] = {}
        for row in theirs:
            is_known = row["arrived_at"] <= decided_at
            if is_known and own["created_at"] - HOUR <= row["created_at"] <= own["created_at"]:
                best = known.setdefault(row["charge_id"], row)
                known[row["charge_id"]] = max(best, row, key=_version)
        yield _decision(own, decided_at, list(known.values()))


def _decision(own: Row, decided_at: Any, known: list[Row]) -> Row:
    risks = [row["risk_score"] for row in known if row["risk_score"] is not None]
    same = [row["amount"] for row in known if row["currency"] == own["currency"]]
    total = sum((amount for amount in same if amount is not None), Decimal(0))
    before = [row for row in known if row["created_at"] < own["created_at"]]
    told = ("charge_id", "customer_id", "created_at", "currency", "amount", "risk_score")
    return {name: own[name] for name in told} | {
        "decided_at": decided_at,
        "transactions_1h": len(known),
        "total_amount_1h": total.quantize(CENT, ROUND_HALF_UP) if own["currency"] else None,
        "avg_risk_1h": sum(risks) / len(risks) if risks else None,
        "cards_1h": len({row["card"] for row in known} - {None}),
        "countries_1h": len({row["country"] for row in known} - {None}),
        "failures_1h": sum(row["is_failed"] for row in before),
    }
