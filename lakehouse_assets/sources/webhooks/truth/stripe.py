"""What staging makes of Stripe's charges, customers and disputes.

A version's time is the event's, in whole seconds; the object's own `created` is when it began.
"""

from datetime import timedelta

from lakehouse_assets.sources.webhooks.truth.values import (
    Row,
    after_epoch,
    country,
    inside,
    lower,
    nested,
    text,
    units,
    upper,
    whole_text,
)

CHARGES, CUSTOMERS = "staging.stg_stripe_charges", "staging.stg_stripe_customers"
DISPUTES = "staging.stg_stripe_disputes"
SECOND = timedelta(seconds=1)
KEPT = ("customer_id", "created_at", "updated_at")  # of one who was deleted


def charge(said: Row) -> Row:
    thing = inside(nested(said["data"]), "object")
    currency = upper(inside(thing, "currency"))
    card = inside(thing, "payment_method_details", "card")
    return {
        "charge_id": text(inside(thing, "id")),
        "customer_id": text(inside(thing, "customer")),
        "payment_intent_id": text(inside(thing, "payment_intent")),
        "amount": units(inside(thing, "amount"), currency),
        "refunded_amount": units(inside(thing, "amount_refunded"), currency),
        "fee_amount": units(inside(thing, "application_fee_amount"), currency),
        "currency": currency,
        "status": lower(inside(thing, "status")),
        "is_paid": inside(thing, "paid") is True,
        "is_refunded": inside(thing, "refunded") is True,
        "is_disputed": inside(thing, "disputed") is True,
        "failure_code": text(inside(thing, "failure_code")),
        "failure_message": text(inside(thing, "failure_message")),
        "email": lower(inside(thing, "billing_details", "email")),
        "card_brand": lower(inside(card, "brand")),
        "card_last4": text(inside(card, "last4")),
        "card_country": country(inside(card, "country")),
        "created_at": after_epoch(inside(thing, "created"), SECOND),
        "updated_at": after_epoch(said["created"], SECOND),
    }


def customer(said: Row) -> Row:
    thing, is_deleted = inside(nested(said["data"]), "object"), said["type"] == "customer.deleted"
    row: Row = {
        "customer_id": text(inside(thing, "id")),
        "email": text(inside(thing, "email")),
        "phone": text(inside(thing, "phone")),
        "full_name": text(inside(thing, "name")),
        "country": country(inside(thing, "address", "country")),
        "city": text(inside(thing, "address", "city")),
        "currency": upper(inside(thing, "currency")),
        "created_at": after_epoch(inside(thing, "created"), SECOND),
        "updated_at": after_epoch(said["created"], SECOND),
    }
    if is_deleted:
        row = {name: value if name in KEPT else None for name, value in row.items()}
    return row | {"is_deleted": is_deleted}


def dispute(said: Row) -> Row:
    thing = inside(nested(said["data"]), "object")
    currency = upper(inside(thing, "currency"))
    return {
        "dispute_id": text(inside(thing, "id")),
        "charge_id": text(inside(thing, "charge")),
        "amount": units(inside(thing, "amount"), currency),
        "currency": currency,
        "reason": lower(inside(thing, "reason")),
        "status": lower(inside(thing, "status")),
        "created_at": after_epoch(inside(thing, "created"), SECOND),
        "updated_at": after_epoch(whole_text(said["created"]), SECOND),
    }
