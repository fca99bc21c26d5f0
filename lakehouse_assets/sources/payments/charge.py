"""Charges: one to three events each, pending first and then succeeded or failed."""

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from lakehouse_assets.sources.event import iso_ms
from lakehouse_assets.sources.payments import edits
from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.feed import Feed
from lakehouse_assets.sources.payments.providers import (
    CHARGE_STATUSES,
    FAILURES,
    PROVIDERS,
    SPELLED,
)
from lakehouse_assets.sources.payments.record import CHARGES, Fields, money, text

RISK_LEVELS = ('"low"', '"normal"', '"elevated"', '"high"', '"highest"')  # one for 21 points each
MESSAGES = {
    "declined": "Your card was declined.",
    "insufficient_funds": "Your card has insufficient funds.",
    "expired_card": "Your card has expired.",
    "wrong_details": "Your card's details are incorrect.",
    "suspected_fraud": "Your bank suspects fraud.",
    "processing_error": "An error occurred while processing your card.",
}
NO_FAILURE = {"failure_code": "null", "failure_message": "null"}
PATHS = (("",), ("pending", ""), ("pending", "pending", ""))  # the last: succeeded or failed

_NAMES = tuple(text(SPELLED[provider]) for provider in PROVIDERS)
_WORDS = {
    text(SPELLED[p]): {k: tuple(map(text, words)) for k, words in CHARGE_STATUSES[p].items()}
    for p in PROVIDERS
}
_FAILURES = {
    text(SPELLED[p]): tuple(
        {"failure_code": text(code), "failure_message": text(MESSAGES[category])}
        for category, codes in FAILURES[p].items()
        for code in codes
    )
    for p in PROVIDERS
}


def _mixed_case(event: Fields, rng: Random, turn: int, dirt: Dirt) -> None:
    edits.mixed_case(event, rng, turn, dirt)
    event["risk_level"] = event["risk_level"].upper()
    said = event["3ds_authenticated"] == '"true"'
    event["3ds_authenticated"] = rng.choice(
        ('"Yes"', '"T"', '"1"', "true", '"Y"') if said else ('"No"', '"f"', "0", '"FALSE"')
    )


def _currency_case(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    event["currency"] = event["currency"].lower() if turn % 2 else event["currency"].title()


def _bad_country(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    event[rng.choice(("card_country", "billing_country"))] = edits.NOT_COUNTRIES[turn % 5]


class ChargeFeed(Feed):
    shape = CHARGES
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "mixed_case": _mixed_case,
        "null_spelling": edits.in_turn(
            edits.nulls(
                "failure_code", "failure_message", "card_country", "billing_postal_code",
                "card_brand", "billing_country", "description", "customer_id", "risk_level",
                "currency",
            ),
            edits.inner("metadata", "subscription_id", *edits.NULLS),
        ),
        "currency_case": _currency_case,
        "bad_country": _bad_country,
        "missing_postal_code": edits.put("billing_postal_code", "null", '""', '"NULL"'),
        "risk_out_of_range": edits.put("risk_score", "101", "-1", "999"),
        "missing_key": edits.put("charge_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(
            ("amount", '"twelve"'),
            ("card_exp_year", '"20x7"'),
            ("metadata", '["order_id","user_email"]'),
            ("created_at", '"yesterday"'),
            ("amount", "123456789012.34"),  # does not fit decimal(10, 2)
            ("risk_score", '"high"'),
        ),
        "oversized": edits.oversized("description"),
    }  # fmt: skip
    amendments = (
        edits.amend_amount,
        edits.turned("card_last4", '"0000"'),
        edits.turned("merchant_name", '"Renamed Ltd"'),
        edits.turned("payment_method_id", '"pm_new"'),
    )

    def begin(self, at: int) -> Fields:
        draw, pool = self.rng.random, self.pools
        who = int(draw() * len(pool.customers))
        fields = pool.customers[who].copy()
        fields.update(pool.merchants[int(draw() * len(pool.merchants))])
        cents = 100 + int(draw() ** 3 * 200_000)
        score = int(draw() * draw() * 101)
        number = self.number()
        fields["charge_id"] = f'"ch_{number}"'
        fields["provider"] = _NAMES[int(draw() * 3)]
        fields["amount"] = money(cents, fields["provider"], fields["currency"])
        fields["description"] = pool.descriptions[int(draw() * len(pool.descriptions))]
        fields["metadata"] = (
            f'{{"order_id":"ord_{number}","user_email":{pool.emails[who]},'
            f'"subscription_id":{pool.subscriptions[who]}}}'
        )
        fields["risk_score"] = str(score)
        fields["risk_level"] = RISK_LEVELS[score // 21]
        fields["3ds_authenticated"] = '"true"' if cents % 3 else '"false"'
        fields["created_at"] = f'"{iso_ms(at)}"'
        fields["extra"] = ""
        return fields

    def path(self) -> tuple[str, ...]:
        return PATHS[int(self.rng.random() * 3)]

    def move(self, fields: Fields, step: str, at: int) -> None:
        draw = self.rng.random
        fresh = "status" not in fields
        provider = fields["provider"]
        fields["event_id"] = f'"evt_{self.number()}"'
        fields["updated_at"] = f'"{iso_ms(at)}"'
        fields.update(NO_FAILURE)
        said = step or ("succeeded" if draw() < 0.85 else "failed")
        words = _WORDS[provider][said]
        fields["status"] = words[int(draw() * len(words))]
        fields["event_type"] = f'"charge.{said}"' if fresh or not step else '"charge.updated"'
        if said == "failed":
            fields.update(_FAILURES[provider][int(draw() * len(_FAILURES[provider]))])
