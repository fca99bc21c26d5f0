"""How much of each kind of dirt the feeds have.

A record carries at most one planted kind. What a kind does to an event is each feed's business.
"""

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from lakehouse_assets.sources.payments.record import (
    CHARGES,
    CUSTOMERS,
    DISPUTES,
    MERCHANTS,
    REFUNDS,
    SUBSCRIPTIONS,
)

MIN_LATE = timedelta(minutes=2)

REPEATS = (  # an earlier event once more, or one that does not come when it should
    "duplicate", "redelivery", "late", "out_of_order", "tie_event", "null_value",
)  # fmt: skip
STATES = ("tie_state", "mixed_case", "missing_event_id", "negative_amount", "unknown_currency")
EDITED = (
    "null_spelling", "unknown_field", "malformed", "wrong_type", "missing_key", "far_future",
    "oversized",
)  # fmt: skip
EVENTS = (*REPEATS, *STATES, *EDITED)
REFERENCE = (
    *(kind for kind in REPEATS if kind != "null_value"),
    *EDITED,
    "bad_country",
    "deletion",
)
ABOUT_CHARGES = ("unknown_charge", "other_currency")
KINDS = {  # of each topic
    CHARGES.topic: (*EVENTS, "currency_case", "bad_country", "missing_postal_code",
                    "risk_out_of_range"),
    REFUNDS.topic: (*EVENTS, *ABOUT_CHARGES, "null_status", "reason_spelling", "missing_ticket",
                    "above_charge", "early"),
    DISPUTES.topic: (*EVENTS, *ABOUT_CHARGES, "missing_evidence", "null_currency",
                     "short_case_number", "illegal_step"),
    SUBSCRIPTIONS.topic: (*EVENTS, "null_trial", "missing_promo", "interval_spelling",
                          "after_cancel"),
    CUSTOMERS.topic: REFERENCE,
    MERCHANTS.topic: REFERENCE,
}  # fmt: skip


@dataclass(frozen=True)
class Dirt:
    """Planted share of a topic's records, by kind (0..1); together at most 1 in each topic."""

    # The event is good, some of its values are not.
    mixed_case: float = 0.10
    null_spelling: float = 0.05
    currency_case: float = 0.05
    bad_country: float = 0.02
    missing_postal_code: float = 0.02
    risk_out_of_range: float = 0.002
    reason_spelling: float = 0.25
    missing_ticket: float = 0.05
    missing_evidence: float = 0.05
    short_case_number: float = 0.03
    null_trial: float = 0.05
    missing_promo: float = 0.05
    interval_spelling: float = 0.25
    # The same event or thing once more, or not when it should be.
    duplicate: float = 0.006
    redelivery: float = 0.006
    late: float = 0.006
    out_of_order: float = 0.004
    tie_event: float = 0.002
    tie_state: float = 0.002
    unknown_field: float = 0.003
    # Good by itself, and odd beside what it is about.
    early: float = 0.01  # a refund whose charge arrives after it
    unknown_charge: float = 0.003
    above_charge: float = 0.005
    other_currency: float = 0.003
    illegal_step: float = 0.01
    after_cancel: float = 0.01
    deletion: float = 0.005  # a reference record's null value
    # Set aside: errors in raw, or refused by staging.
    null_status: float = 0.02
    null_currency: float = 0.02
    malformed: float = 0.003
    wrong_type: float = 0.003
    null_value: float = 0.001
    missing_event_id: float = 0.001
    missing_key: float = 0.0005
    unknown_currency: float = 0.0005
    negative_amount: float = 0.001
    far_future: float = 0.0005
    oversized: float = 0.0001

    oversized_bytes: int = 1_500_000
    late_up_to: timedelta = timedelta(days=3)

    def __post_init__(self) -> None:
        wrong = {kind: rate for kind, rate in self.rates().items() if not 0 <= rate <= 1}
        full = {t: sum(self.rates(t).values()) for t in KINDS}
        if wrong or max(full.values()) > 1 + 1e-9:
            raise ValueError(f"Dirt: rates lie in 0..1 and sum to at most 1, got {wrong or full}")
        if self.late_up_to <= MIN_LATE:
            raise ValueError(f"Dirt: late_up_to must exceed {MIN_LATE}, got {self.late_up_to}")

    def rates(self, topic: str = "") -> dict[str, float]:
        """By kind; of one topic: those that it has."""
        every = (field.name for field in fields(self) if field.type is float)
        return {kind: getattr(self, kind) for kind in KINDS.get(topic, every)}

    @classmethod
    def none(cls) -> "Dirt":
        """No dirt at all: clean, distinct events."""
        return cls.only()

    @classmethod
    def only(cls, **settings: Any) -> "Dirt":
        """Nothing but the kinds named."""
        clean: dict[str, Any] = {f.name: 0.0 for f in fields(cls) if f.type is float}
        return cls(**clean | settings)
