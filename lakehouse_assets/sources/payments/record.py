"""How an event's fields become a Kafka record: a template filled with ready JSON texts."""

import json
from dataclasses import dataclass
from functools import cached_property

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments.providers import CURRENCIES, IN_MINOR_UNITS

Fields = dict[str, str]  # column: its JSON text, so that an amount never passes through a float

ABSENT = ""  # as the text of the topic's first field: it is left out altogether
EXTRA = "extra"  # what a record has behind its fields: nothing, or unknown ones


@dataclass(frozen=True)
class Shape:
    """A topic's records: their fields in order, and the one whose value is the Kafka key."""

    topic: str
    columns: tuple[str, ...]
    key: str

    @cached_property
    def template(self) -> str:
        return "{" + ",".join(f'"{name}":%({name})s' for name in self.columns) + "%(extra)s}"

    def record(self, fields: Fields, kind: str) -> Event:
        value = self.template % fields
        if fields[self.columns[0]] == ABSENT:
            value = "{" + value.partition(",")[2]
        named = fields[self.key][1:-1]
        key = named.encode() if "_" in named else None  # a real id has its kind before it
        return Event(key, value.encode(), self.topic, kind)


CHARGES = Shape("payment_charges", (
    "event_id", "event_type", "provider", "charge_id", "customer_id", "amount", "currency",
    "status", "failure_code", "failure_message", "payment_method_id", "payment_method_type",
    "card_brand", "card_last4", "card_exp_month", "card_exp_year", "card_country",
    "billing_country", "billing_postal_code", "merchant_id", "merchant_name", "description",
    "metadata", "risk_score", "risk_level", "3ds_authenticated", "created_at", "updated_at",
), key="charge_id")  # fmt: skip
REFUNDS = Shape("payment_refunds", (
    "event_id", "event_type", "provider", "refund_id", "charge_id", "customer_id", "amount",
    "currency", "status", "reason", "failure_reason", "merchant_id", "metadata", "created_at",
    "updated_at",
), key="refund_id")  # fmt: skip
DISPUTES = Shape("payment_disputes", (
    "event_id", "event_type", "provider", "dispute_id", "charge_id", "customer_id", "merchant_id",
    "amount", "currency", "status", "network_reason_code", "reason", "case_number", "evidence",
    "evidence_due_at", "created_at", "updated_at",
), key="dispute_id")  # fmt: skip
SUBSCRIPTIONS = Shape("payment_subscriptions", (
    "event_id", "event_type", "provider", "subscription_id", "customer_id", "merchant_id",
    "status", "plan_id", "plan_name", "plan_interval", "plan_amount", "plan_currency",
    "trial_start_at", "trial_end_at", "discount_percent", "coupon_code", "promo_code",
    "canceled_at", "created_at", "updated_at",
), key="subscription_id")  # fmt: skip
CUSTOMERS = Shape("payment_customers", (
    "customer_id", "name", "email", "country", "segment", "signed_up_at", "updated_at",
), key="customer_id")  # fmt: skip
MERCHANTS = Shape("payment_merchants", (
    "merchant_id", "name", "category", "country", "onboarded_at", "updated_at",
), key="merchant_id")  # fmt: skip
SHAPES = (CHARGES, REFUNDS, DISPUTES, SUBSCRIPTIONS, CUSTOMERS, MERCHANTS)


def text(value: object) -> str:
    """The JSON text of a value, letters beyond ASCII as they are."""
    return json.dumps(value, ensure_ascii=False)


def money(minor: int, provider: str, currency: str) -> str:
    """An amount as the provider writes it; both names as JSON text, in any case."""
    digits = CURRENCIES[currency[1:-1].upper()]
    if digits == 0 or provider[1:-1].upper() in IN_MINOR_UNITS:
        return str(minor)
    return f"{minor // 100}.{minor % 100:02}"


def minor_units(amount: str) -> int:
    """What `money` was given."""
    return int(amount.replace(".", ""))
