"""Disputes of the charge feed's charges, from a warning or a chargeback to won or lost."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.payments import edits
from lakehouse_assets.sources.payments.past import AboutCharges
from lakehouse_assets.sources.payments.providers import (
    DISPUTE_STATUSES,
    DISPUTE_STEPS,
    NETWORK_REASONS,
)
from lakehouse_assets.sources.payments.record import DISPUTES, Fields, text

PATHS = (
    ("needs_response", "under_review", "lost"),
    ("needs_response", "under_review", "won"),
    ("needs_response", "lost"),
    ("warning", "needs_response", "under_review", "won"),
    ("warning", "needs_response", "lost"),
    ("warning", "warning_closed"),
)
DUE_MS = 14 * 86_400_000  # evidence may be handed in for two weeks
ANSWERS = ("none", "letter", "chat transcript", "refund policy")


class DisputeFeed(AboutCharges):
    shape = DISPUTES
    every = 10
    moving = 0.6
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "null_spelling": edits.nulls("customer_id", "merchant_id", "reason", "case_number"),
        "missing_evidence": edits.inner("evidence", "metadata", "null", "{}"),
        "null_currency": edits.put("currency", "null", '""', '"NULL"'),
        "short_case_number": lambda event, rng, turn, _: event.update(
            case_number=(f'{event["case_number"][:7]}"', '"CB-"')[turn % 2]
        ),
        "missing_key": edits.put("dispute_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(
            ("amount", '"twelve"'), ("evidence", '"none"'), ("evidence_due_at", '"soon"'),
        ),
        "oversized": edits.oversized("case_number"),
    }  # fmt: skip
    amendments = (
        edits.amend_amount,
        edits.turned("case_number", '"CB-2026-000001"'),
        edits.turned("network_reason_code", '"10.4"'),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._repeats["illegal_step"] = self._illegal_step

    def path(self) -> tuple[str, ...]:
        return self.rng.choice(PATHS)

    def about(self, charge: Fields, at: int) -> Fields:
        reason = self.rng.choice(list(NETWORK_REASONS))
        case = f"CB-2026-{self.rng.randrange(1_000_000):06}"
        return charge | {
            "dispute_id": f'"dp_{self.number()}"',
            "reason": text(reason),
            "network_reason_code": text(self.rng.choice(NETWORK_REASONS[reason])),
            "case_number": text(case),
            "evidence": self._evidence("none"),
            "evidence_due_at": f'"{iso_ms(at + DUE_MS)}"',
            "created_at": f'"{iso_ms(at)}"',
            "extra": "",
        }

    def move(self, fields: Fields, step: str, at: int) -> None:
        words = DISPUTE_STATUSES[fields["provider"][1:-1].upper()][step]
        fresh, ended = "status" not in fields, not DISPUTE_STEPS[step]
        event = "created" if fresh else "closed" if ended else "updated"
        fields["event_id"] = f'"evt_{self.number()}"'
        fields["event_type"] = f'"dispute.{event}"'
        fields["status"] = text(words[int(self.rng.random() * len(words))])
        fields["updated_at"] = f'"{iso_ms(at)}"'
        if step == "under_review":
            fields["evidence"] = self._evidence(self.rng.choice(ANSWERS))

    def _evidence(self, answer: str) -> str:
        pages = self.rng.randrange(1, 9)
        return (
            f'{{"customer_communication":"{answer}","receipt_id":"rcp_{self.number()[-8:]}",'
            f'"metadata":{{"submitted_by":"{self.rng.choice(("merchant", "agent"))}",'
            f'"document_count":{pages}}}}}'
        )

    def _illegal_step(self, at: int) -> Event | None:
        """One more step after the last, or one back."""
        made = self.remembered(lambda one: one.clean and one.updated < at)
        if made is None:
            return None
        steps = [s for s in DISPUTE_STEPS if s and s not in (*DISPUTE_STEPS[made.step], made.step)]
        self.move(made.fields, self.rng.choice(steps), at)
        return self.shape.record(made.fields, "illegal_step")
