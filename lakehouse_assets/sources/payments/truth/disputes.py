"""The way of a dispute through its states, told event by event."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise

from lakehouse_assets.sources.payments.providers import DISPUTE_STATUSES, DISPUTE_STEPS
from lakehouse_assets.sources.payments.truth.meaning import Tables, meant, minor_units, units, whole
from lakehouse_assets.sources.payments.truth.raw import Row

DISPUTES, LIFECYCLE = "staging.stg_payment_disputes", "semantic.dispute_lifecycle"
KEYS: dict[str, tuple[str, ...]] = {LIFECYCLE: ("dispute_id",)}

LAST_WORD = (
    "dispute_id", "event_id", "provider", "charge_id", "customer_id", "merchant_id", "currency",
    "reason", "network_reason_code", "case_number", "provider_status", "evidence_due_at",
    "created_at", "updated_at",
)  # fmt: skip
SECOND = timedelta(seconds=1)

Path = list[tuple[str, datetime]]  # the states that were entered, and when


def tables(staged: Tables) -> Tables:
    told: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(staged[DISPUTES], key=lambda row: (row["updated_at"], row["event_id"])):
        told[row["dispute_id"]].append(row)
    return {LIFECYCLE: [_lifecycle(told[name]) for name in sorted(told)]}


def _lifecycle(events: list[Row]) -> Row:
    path: Path = []
    unknown = 0
    for event in events:
        state = meant(DISPUTE_STATUSES, event["provider"], event["provider_status"])
        if state is None:
            unknown += 1
        elif not path or path[-1][0] != state:
            path.append((state, event["updated_at"]))
    last, states = events[-1], [state for state, _ in path]
    illegal = sum(b not in DISPUTE_STEPS[a] for a, b in pairwise(["", *states]))
    return {
        **{name: last[name] for name in LAST_WORD},
        "amount": units(last, last["provider_amount"]),
        "amount_minor": whole(minor_units(last, last["provider_amount"])),
        **_stays(path),
        "status": states[-1] if states else None,
        "steps": ">".join(states) or None,
        "transitions": len(path),
        "illegal_transitions": illegal,
        "is_illegal": illegal > 0,
        "unknown_statuses": unknown,
        "events": len(events),
        "opened_at": events[0]["updated_at"],
        "closed_at": path[-1][1] if path and not DISPUTE_STEPS[states[-1]] else None,
        "is_evidence_late": _is_late(path, last["evidence_due_at"]),
    }


def _stays(path: Path) -> Row:
    """Seconds of the stays that ended."""
    spent: dict[str, timedelta] = {}
    for (state, since), (_, until) in pairwise(path):
        spent[state] = spent.get(state, timedelta(0)) + until - since
    return {
        f"{state}_s": spent[state] // SECOND if state in spent else None
        for state in ("warning", "needs_response", "under_review")
    }


def _is_late(path: Path, due: datetime | None) -> bool | None:
    for state, since in path:
        if state == "under_review":
            return None if due is None else since > due
    return None
