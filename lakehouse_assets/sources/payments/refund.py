"""Refunds of the charge feed's charges: in part, in whole, several for one, and some too early."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.payments import edits
from lakehouse_assets.sources.payments.past import AboutCharges, shared
from lakehouse_assets.sources.payments.providers import REFUND_REASONS, REFUND_STATUSES
from lakehouse_assets.sources.payments.record import REFUNDS, Fields, minor_units, money, text

PATHS = (("",), ("pending", ""), ("pending", "pending", ""))
ASKED_BY = ("customer", "customer", "support", "merchant", "system")
FAILURES = ("lost_or_stolen_card", "expired_or_canceled_card", "insufficient_funds", "declined")


class RefundFeed(AboutCharges):
    shape = REFUNDS
    every = 4
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "null_spelling": edits.in_turn(
            edits.nulls("failure_reason", "customer_id", "merchant_id", "currency", "reason"),
            edits.inner("metadata", "support_ticket_id", *edits.NULLS),
        ),
        "reason_spelling": lambda event, rng, turn, _: event.update(
            reason=text(rng.choice(REFUND_REASONS[event["reason"][1:-1]][1:]))
        ),
        "missing_ticket": edits.inner("metadata", "support_ticket_id", *edits.NULLS),
        "null_status": edits.put("status", "null", '""', '"NULL"'),
        "missing_key": edits.put("refund_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(
            ("amount", '"twelve"'), ("metadata", '"none"'), ("created_at", "1767225600"),
            ("amount", "123456789012.34"),
        ),
        "oversized": edits.oversized("failure_reason"),
    }  # fmt: skip
    amendments = (
        edits.amend_amount,
        edits.turned("reason", '"other"'),
        edits.turned("failure_reason", '"bank said no"'),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._repeats |= {"early": self._early, "above_charge": self._above_charge}

    def path(self) -> tuple[str, ...]:
        return PATHS[int(self.rng.random() * 3)]

    def move(self, fields: Fields, step: str, at: int) -> None:
        draw = self.rng.random
        said = step or ("succeeded" if draw() < 0.9 else "failed")
        words = REFUND_STATUSES[fields["provider"][1:-1].upper()][said]
        fresh = "status" not in fields
        fields["event_id"] = f'"evt_{self.number()}"'
        fields["event_type"] = '"refund.created"' if fresh else '"refund.updated"'
        fields["status"] = text(words[int(draw() * len(words))])
        fields["failure_reason"] = text(self.rng.choice(FAILURES)) if said == "failed" else "null"
        fields["updated_at"] = f'"{iso_ms(at)}"'

    def about(self, charge: Fields, at: int) -> Fields:
        draw, number = self.rng.random, self.number()
        whole = minor_units(charge["amount"])
        part = whole if draw() < 0.5 else max(1, int(whole * draw()))
        asked = self.rng.choice(ASKED_BY)
        ticket = f'"tic_{number[-8:]}"' if asked == "support" or draw() < 0.7 else "null"
        return charge | {
            "refund_id": f'"re_{number}"',
            "amount": money(part, charge["provider"], charge["currency"]),
            "reason": text(self.rng.choice(list(REFUND_REASONS))),
            "metadata": f'{{"refund_requested_by":"{asked}","original_order_id":'
            f'"ord_{charge["charge_id"][4:-1]}","support_ticket_id":{ticket}}}',
            "created_at": f'"{iso_ms(at)}"',
            "extra": "",
        }

    def _early(self, at: int) -> Event | None:
        """A refund whose charge, made before it, arrives after it."""
        made = next((made for made in self.past.coming if made.updated < at), None)
        return self.at_once(self.about(shared(made), at), "early", at) if made else None

    def _above_charge(self, at: int) -> Event | None:
        charge = self.charge()
        if charge is None:
            return None
        more = minor_units(charge["amount"]) + 1 + int(self.rng.random() * 5_000)
        amount = money(more, charge["provider"], charge["currency"])
        return self.at_once(self.about(charge, at) | {"amount": amount}, "above_charge", at)
