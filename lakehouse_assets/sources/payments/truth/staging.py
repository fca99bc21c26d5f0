"""What staging makes of a raw row, topic by topic.

Columns come in the order in which they decide between versions of equal `updated_at`.
"""

import re
from collections.abc import Callable
from typing import Any

from lakehouse_assets.sources.payments.providers import (
    INTERVALS,
    NETWORK_REASONS,
    REFUND_REASONS,
    letters,
)
from lakehouse_assets.sources.payments.record import (
    CHARGES,
    CUSTOMERS,
    DISPUTES,
    MERCHANTS,
    REFUNDS,
    SUBSCRIPTIONS,
)
from lakehouse_assets.sources.payments.truth.raw import KEYED, Row

NULL_SPELLINGS = ("", "null", "none", "n/a", "nil")

Clean = Callable[[Any], Any]


def text(value: str | None) -> str | None:
    trimmed = (value or "").strip(" ")  # as SQL's `trim` does it
    return None if trimmed.lower() in NULL_SPELLINGS else trimmed


def lower(value: str | None) -> str | None:
    said = text(value)
    return said and said.lower()


def upper(value: str | None) -> str | None:
    said = text(value)
    return said and said.upper()


def matching(pattern: str) -> Clean:
    """What is not of this form is nothing."""

    def clean(value: str | None) -> str | None:
        said = text(value)
        return said if said and re.fullmatch(pattern, said) else None

    return clean


def one_of(spellings: dict[str, tuple[str, ...]]) -> Clean:
    """The word that is meant; one that nobody knows stays, in lower case, and is refused."""
    meant = {letters(said): word for word, all_said in spellings.items() for said in all_said}

    def clean(value: str | None) -> str | None:
        said = text(value)
        return said and meant.get(letters(said), said.lower())

    return clean


def boolean(value: str | None) -> bool | None:
    said = (text(value) or "").lower()
    if said in ("true", "yes", "y", "1", "t"):
        return True
    return False if said in ("false", "no", "n", "0", "f") else None


def on_scale(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= 100 else None


def as_it_is(value: Any) -> Any:
    return value


COUNTRY = matching("[A-Z]{2}")
CASE_NUMBER = matching("CB-[0-9]{4}-[0-9]{6}")
HOW: dict[str, Clean] = {  # for columns that are not simply text
    **dict.fromkeys(
        ("event_type", "status", "provider_status", "risk_level", "segment", "category"), lower
    ),
    **dict.fromkeys(("provider", "currency", "plan_currency"), upper),
    **dict.fromkeys(("card_country", "billing_country", "country"), COUNTRY),
    **dict.fromkeys(
        ("provider_amount", "provider_plan_amount", "card_exp_month", "card_exp_year",
         "discount_percent", "evidence_document_count", "created_at", "updated_at",
         "changed_at", "evidence_due_at", "trial_start_at", "trial_end_at", "canceled_at",
         "signed_up_at", "onboarded_at"),
        as_it_is,
    ),
    "is_3ds_authenticated": boolean,
    "risk_score": on_scale,
    "plan_interval": one_of(INTERVALS),
    "case_number": CASE_NUMBER,
}  # fmt: skip
REASONS: dict[str, dict[str, tuple[str, ...]]] = {
    REFUNDS.topic: REFUND_REASONS,
    DISPUTES.topic: {reason: (reason,) for reason in NETWORK_REASONS},
}
PROVIDERS_OWN = {"provider_amount": "amount", "provider_status": "status"}
RENAMED: dict[str, dict[str, str]] = {  # where a value lies in the record, if not under its name
    CHARGES.topic: {
        **{name: f"metadata.{name}" for name in ("order_id", "user_email", "subscription_id")},
        "is_3ds_authenticated": "3ds_authenticated",
        **PROVIDERS_OWN,
    },
    REFUNDS.topic: {
        **{
            name: f"metadata.{name}"
            for name in ("refund_requested_by", "original_order_id", "support_ticket_id")
        },
        **PROVIDERS_OWN,
    },
    DISPUTES.topic: {
        "customer_communication": "evidence.customer_communication",
        "receipt_id": "evidence.receipt_id",
        "evidence_submitted_by": "evidence.metadata.submitted_by",
        "evidence_document_count": "evidence.metadata.document_count",
        **PROVIDERS_OWN,
    },
    SUBSCRIPTIONS.topic: {"provider_plan_amount": "plan_amount"},
    CUSTOMERS.topic: {"changed_at": "updated_at", "customer_name": "name"},
    MERCHANTS.topic: {"changed_at": "updated_at", "merchant_name": "name"},
}
COLUMNS: dict[str, tuple[str, ...]] = {
    CHARGES.topic: (
        "event_id", "event_type", "provider", "charge_id", "customer_id",
        "provider_amount", "currency", "provider_status", "failure_code", "failure_message",
        "payment_method_id", "payment_method_type", "card_brand", "card_last4", "card_exp_month",
        "card_exp_year", "card_country", "billing_country", "billing_postal_code", "merchant_id",
        "merchant_name", "description", "order_id", "user_email", "subscription_id",
        "risk_score", "risk_level",
        "is_3ds_authenticated", "created_at", "updated_at",
    ),
    REFUNDS.topic: (
        "event_id", "event_type", "provider", "refund_id", "charge_id", "customer_id",
        "provider_amount", "currency", "provider_status", "reason", "failure_reason",
        "merchant_id", "refund_requested_by", "original_order_id", "support_ticket_id",
        "created_at", "updated_at",
    ),
    DISPUTES.topic: (
        "event_id", "event_type", "provider", "dispute_id", "charge_id", "customer_id",
        "merchant_id", "provider_amount", "currency", "provider_status",
        "network_reason_code", "reason", "case_number", "customer_communication", "receipt_id",
        "evidence_submitted_by",
        "evidence_document_count", "evidence_due_at", "created_at", "updated_at",
    ),
    SUBSCRIPTIONS.topic: tuple(
        "provider_plan_amount" if name == "plan_amount" else name for name in SUBSCRIPTIONS.columns
    ),
    CUSTOMERS.topic: ("customer_id", "changed_at", "customer_name", "email", "country", "segment",
                      "signed_up_at"),
    MERCHANTS.topic: ("merchant_id", "changed_at", "merchant_name", "category", "country",
                      "onboarded_at"),
}  # fmt: skip
KEYS: dict[str, tuple[str, ...]] = {
    topic: ("customer_id", "changed_at") if topic == CUSTOMERS.topic
    else ("merchant_id", "changed_at") if topic == MERCHANTS.topic
    else ("event_id",)
    for topic in COLUMNS
}  # fmt: skip


def cleaned(topic: str, raw: Row) -> Row:
    """A staging row without `arrived_at`."""
    row: Row = {}
    is_dirty = False
    for column in COLUMNS[topic]:
        found: Any = raw
        for name in RENAMED[topic].get(column, column).split("."):
            found = None if found is None else found.get(name)
        how = one_of(REASONS[topic]) if column == "reason" else HOW.get(column, text)
        row[column] = how(found)
        lost = text(found) if column == "is_3ds_authenticated" else row[column]
        is_dirty |= found is not None and lost is None
        if column in ("currency", "plan_currency", "reason", "plan_interval") and row[column]:
            is_dirty |= row[column] != found.strip(" ")
    if topic == CHARGES.topic:
        is_dirty |= row["billing_postal_code"] is None
    return row | {"is_dirty": is_dirty}


def deletion(topic: str, key: bytes | None, arrived_at: Any) -> Row:
    """What a null value on a keyed topic becomes."""
    named = text(key.decode()) if key else None
    first = {KEYS[topic][0]: named, "changed_at": arrived_at}
    return dict.fromkeys(COLUMNS[topic]) | first | {"is_deleted": True, "is_dirty": False}


def orderable(value: Any) -> tuple[Any, ...]:
    """Nulls first, text by its UTF-8 bytes."""
    if value is None:
        return (0,)
    return (1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def version(topic: str, row: Row) -> tuple[Any, ...]:
    """The newest, then the greatest content."""
    newest = row["changed_at" if topic in KEYED else "updated_at"]
    content = [*COLUMNS[topic], *(("is_deleted",) if topic in KEYED else ()), "is_dirty"]
    return (newest, *(orderable(row[name]) for name in content))
