"""The dirt in payment charges: how much of each kind, where it falls, and what it does to an event.

A record carries at most one planted kind. Kinds that repeat an earlier event need the stream's
memory and live in `payments`; those here change one event, or its bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any

from lakehouse_assets.sources.event import CLEAN
from lakehouse_assets.sources.payments_record import ABSENT, Fields, text

NULLS = ("null", '"NULL"', '"null"', '""', '"None"', '"n/a"', '"nil"', '" "')
NOT_COUNTRIES = ('"342"', '"999"', '"USA"', '"us"', '"00"')
MAY_BE_NULL = (
    "failure_code", "failure_message", "card_country", "billing_postal_code", "subscription_id",
    "card_brand", "billing_country", "description", "customer_id", "risk_level", "currency",
)  # fmt: skip
WRONG_TYPES = (
    ("amount", '"twelve"'),
    ("card_exp_year", '"20x7"'),
    ("metadata", '["order_id","user_email"]'),
    ("created_at", '"yesterday"'),
    ("amount", "123456789012.34"),  # does not fit decimal(10, 2)
    ("risk_score", '"high"'),
)


@dataclass(frozen=True)
class Dirt:
    """Planted share of the records, by kind (0..1); together at most 1."""

    # As in the seed: the event is good, some of its values are not.
    mixed_case: float = 0.10
    null_spelling: float = 0.05
    currency_case: float = 0.05
    bad_country: float = 0.02
    missing_postal_code: float = 0.02
    risk_out_of_range: float = 0.002
    # The same event or charge once more, or not when it should be.
    duplicate: float = 0.006
    redelivery: float = 0.006
    late: float = 0.006
    out_of_order: float = 0.004
    tie_event: float = 0.002
    tie_charge: float = 0.002
    unknown_field: float = 0.003
    # Set aside: errors in raw, or refused by staging.
    malformed: float = 0.003
    wrong_type: float = 0.003
    null_value: float = 0.001
    missing_event_id: float = 0.001
    missing_charge_id: float = 0.0005
    unknown_currency: float = 0.0005
    negative_amount: float = 0.001
    far_future: float = 0.0005
    oversized: float = 0.0001

    oversized_bytes: int = 1_500_000
    late_up_to: timedelta = timedelta(days=3)

    def __post_init__(self) -> None:
        rates = self.rates()
        wrong = {kind: rate for kind, rate in rates.items() if not 0 <= rate <= 1}
        if wrong or sum(rates.values()) > 1 + 1e-9:
            raise ValueError(f"Dirt: rates lie in 0..1 and sum to at most 1, got {wrong or rates}")
        if self.late_up_to <= MIN_LATE:
            raise ValueError(f"Dirt: late_up_to must exceed {MIN_LATE}, got {self.late_up_to}")

    def rates(self) -> dict[str, float]:
        return {field.name: getattr(self, field.name) for field in fields(self)
                if field.type is float}  # fmt: skip

    @classmethod
    def none(cls) -> "Dirt":
        """No dirt at all: clean, distinct events."""
        return cls.only()

    @classmethod
    def only(cls, **settings: Any) -> "Dirt":
        """Nothing but the kinds named."""
        clean: dict[str, Any] = {f.name: 0.0 for f in fields(cls) if f.type is float}
        return cls(**clean | settings)


MIN_LATE = timedelta(minutes=2)


class Schedule:
    """Which record gets which dirt: one of every 1/rate records, at a seeded place among them.

    So each kind comes out at its rate to within a record or two, and changing one rate moves the
    others by no more than a place lost to a collision.
    """

    def __init__(self, seed: int, rates: dict[str, float]) -> None:
        self._rates = {kind: rate for kind, rate in rates.items() if rate > 0}
        self._rngs = {kind: Random(f"{kind}/{seed}") for kind in self._rates}
        self._turns = dict.fromkeys(self._rates, 0)
        self._due = [(self._place(kind), kind) for kind in self._rates]
        heapify(self._due)

    def at(self, slot: int) -> str:
        """The kind due at this record; of two that fall together the second goes to the next."""
        if not self._due or self._due[0][0] > slot:
            return CLEAN
        _, kind = heappop(self._due)
        self._turns[kind] += 1
        heappush(self._due, (self._place(kind), kind))
        return kind

    def turn(self, kind: str) -> int:
        """How often this kind came before; variants of a kind take turns."""
        return self._turns[kind] - 1

    def postpone(self, kind: str, slot: int) -> None:
        """Try this kind once more at a later record, because there was nothing to repeat."""
        self._turns[kind] -= 1
        self._due = [due for due in self._due if due[1] != kind] + [(slot, kind)]
        heapify(self._due)

    def _place(self, kind: str) -> int:
        return int((self._turns[kind] + self._rngs[kind].random()) / self._rates[kind])


def _mixed_case(event: Fields, rng: Random, turn: int) -> None:
    provider = event["provider"][1:-1]
    spellings = (provider.upper(), provider.lower(), provider.swapcase(), f" {provider} ")
    event["provider"] = text(spellings[turn % len(spellings)])
    if rng.random() < 0.3:
        event["status"] = event["status"].title()
        event["risk_level"] = event["risk_level"].upper()
        said = event["3ds_authenticated"] == '"true"'
        event["3ds_authenticated"] = rng.choice(
            ('"Yes"', '"T"', '"1"', "true", '"Y"') if said else ('"No"', '"f"', "0", '"FALSE"')
        )


def _null_spelling(event: Fields, rng: Random, turn: int) -> None:
    for column in (MAY_BE_NULL[turn % len(MAY_BE_NULL)], rng.choice(MAY_BE_NULL)):
        spelling = rng.choice(NULLS)
        if column == "subscription_id":
            head = event["metadata"].rpartition('"subscription_id":')[0]
            event["metadata"] = f'{head}"subscription_id":{spelling}}}'
        else:
            event[column] = spelling


def _currency_case(event: Fields, rng: Random, turn: int) -> None:
    event["currency"] = event["currency"].lower() if turn % 2 else event["currency"].title()


def _bad_country(event: Fields, rng: Random, turn: int) -> None:
    event[rng.choice(("card_country", "billing_country"))] = NOT_COUNTRIES[turn % 5]


def _unknown_field(event: Fields, rng: Random, turn: int) -> None:
    if turn % 2:
        event["metadata"] = f'{event["metadata"][:-1]},"utm_source":"newsletter"}}'
    else:
        event["extra"] = ',"loyalty":{"tier":"gold","points":' + str(rng.randrange(5_000)) + "}"


def _wrong_type(event: Fields, rng: Random, turn: int) -> None:
    column, value = WRONG_TYPES[turn % len(WRONG_TYPES)]
    event[column] = value


def _set(column: str, *values: str) -> Callable[[Fields, Random, int], None]:
    def edit(event: Fields, rng: Random, turn: int) -> None:
        event[column] = values[turn % len(values)]

    return edit


def _amend_amount(event: Fields) -> None:
    cents = int(event["amount"].replace(".", "")) + 1
    event["amount"] = f"{cents // 100}.{cents % 100:02}"


AMENDMENTS: tuple[Callable[[Fields], None], ...] = (  # each changes what the tables show
    _amend_amount,
    lambda event: event.update(card_last4='"0000"' if event["card_last4"] != '"0000"' else "null"),
    lambda event: event.update(merchant_name='"Renamed Ltd"'),
    lambda event: event.update(payment_method_id="null"),
)

EDITS: dict[str, Callable[[Fields, Random, int], None]] = {
    "mixed_case": _mixed_case,
    "null_spelling": _null_spelling,
    "currency_case": _currency_case,
    "bad_country": _bad_country,
    "missing_postal_code": _set("billing_postal_code", "null", '""', '"NULL"'),
    "risk_out_of_range": _set("risk_score", "101", "-1", "999"),
    "unknown_field": _unknown_field,
    "wrong_type": _wrong_type,
    "missing_event_id": _set("event_id", ABSENT, "null", '""', '"NULL"'),
    "missing_charge_id": _set("charge_id", "null", '""', '"null"'),
    "unknown_currency": _set("currency", '"XXX"', '"euro"'),
    "negative_amount": lambda event, rng, turn: event.update(amount=f"-{event['amount']}"),
    "far_future": _set("updated_at", '"2099-12-31T23:59:59.000Z"'),
}
STAYS_GOOD = frozenset(EDITS) - {
    "wrong_type", "missing_event_id", "missing_charge_id", "unknown_currency", "negative_amount",
    "far_future",
}  # fmt: skip


def oversized(event: Fields, rng: Random, size: int) -> None:
    """Hex digits, because a filler that compresses away would not be large for the broker."""
    event["description"] = f'"{rng.randbytes(size // 2).hex()}"'


def malformed(value: bytes, rng: Random, turn: int) -> bytes:
    """The variants take turns: cut short, no JSON, array, scalar, invalid UTF-8, empty."""
    variants = (
        value[: rng.randrange(1, len(value))],
        b"<html>502 Bad Gateway</html>",
        b"[" + value + b"]",
        rng.choice((b"42", b'"charge"', b"true", b"null")),
        value.replace(b'"description":"', b'"description":"\xff\xfe', 1),
        b"",
    )
    return variants[turn % len(variants)]
