"""How a charge event becomes a Kafka record: a template filled with ready JSON texts."""

import json

from lakehouse_assets.sources.event import Event

TOPIC = "payment_charges"

Fields = dict[str, str]  # column: its JSON text, so that an amount never passes through a float

COLUMNS = (
    "event_id", "event_type", "provider", "charge_id", "customer_id", "amount", "currency",
    "status", "failure_code", "failure_message", "payment_method_id", "payment_method_type",
    "card_brand", "card_last4", "card_exp_month", "card_exp_year", "card_country",
    "billing_country", "billing_postal_code", "merchant_id", "merchant_name", "description",
    "metadata", "risk_score", "risk_level", "3ds_authenticated", "created_at", "updated_at",
)  # fmt: skip
ABSENT = ""  # as the text of an event_id: the field is left out altogether

_TEMPLATE = "{" + ",".join(f'"{name}":%({name})s' for name in COLUMNS) + "%(extra)s}"


def text(value: object) -> str:
    """The JSON text of a value, letters beyond ASCII as they are."""
    return json.dumps(value, ensure_ascii=False)


def record(fields: Fields, kind: str) -> Event:
    """The Kafka record of an event, keyed by its charge if it names one."""
    value = _TEMPLATE % fields
    if fields["event_id"] == ABSENT:
        value = "{" + value.partition(",")[2]
    charge_id = fields["charge_id"]
    key = charge_id[1:-1].encode() if charge_id.startswith('"ch_') else None
    return Event(key, value.encode(), TOPIC, kind)
