"""What staging makes of Shopify's orders, customers and refunds."""

from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.webhooks.truth.values import (
    Row,
    amount,
    country,
    inside,
    instant,
    lower,
    nested,
    text,
    upper,
)

ORDERS, CUSTOMERS = "staging.stg_shopify_orders", "staging.stg_shopify_customers"
REFUNDS = "staging.stg_shopify_refunds"
CUSTOMER = ("customer_id", "email", "phone", "first_name", "last_name", "country", "city",
            "currency", "state", "merged_into_id", "created_at", "updated_at")  # fmt: skip
GONE = ("customers/delete", "customers/merge")


def order(said: Row) -> Row:
    items, created_at = nested(said["line_items"]), said["created_at"]
    financial, fulfilled = lower(said["financial_status"]), lower(said["fulfillment_status"])
    shipping = inside(nested(said["total_shipping"]), "shop_money", "amount")
    return {
        "order_id": text(said["id"]),
        "order_number": said["order_number"],
        "customer_id": text(inside(nested(said["customer"]), "id")),
        "email": lower(said["email"]),
        "total_amount": amount(said["total_price"]),
        "subtotal_amount": amount(said["subtotal_price"]),
        "tax_amount": amount(said["total_tax"]),
        "discount_amount": amount(said["total_discounts"]),
        "shipping_amount": amount(shipping),
        "currency": upper(said["currency"]),
        "line_item_count": len(items) if isinstance(items, list) else None,
        "financial_status": financial,
        "fulfillment_status": fulfilled,
        "is_paid": financial == "paid",
        "is_fulfilled": fulfilled == "fulfilled",
        **_place("shipping", nested(said["shipping_address"])),
        **_place("billing", nested(said["billing_address"])),
        "order_date": created_at and created_at.date(),
        "created_at": created_at,
        "updated_at": said["updated_at"],
        "cancelled_at": said["cancelled_at"],
        "is_tax_included": said["is_tax_included"],
        "_line_items": said["line_items"],
    }


def _place(kind: str, said: Any) -> Row:
    return {
        f"{kind}_city": text(inside(said, "city")),
        f"{kind}_state": text(inside(said, "province")),
        f"{kind}_country": country(inside(said, "country_code")),
    }


def customer(said: Row) -> Row | None:
    """A deletion, or what was merged into another, keeps its id alone; a merge that did not
    succeed says nothing.
    """
    if said["_webhook_topic"] in GONE:
        return _gone(said)
    home = nested(said["default_address"])
    return {
        "customer_id": text(said["id"]),
        "email": text(said["email"]),
        "phone": text(said["phone"]),
        "first_name": text(said["first_name"]),
        "last_name": text(said["last_name"]),
        "country": country(inside(home, "country_code")),
        "city": text(inside(home, "city")),
        "currency": upper(said["currency"]),
        "state": lower(said["state"]),
        "merged_into_id": None,
        "created_at": said["created_at"],
        "updated_at": said["updated_at"],
        "is_deleted": False,
    }


def _gone(said: Row) -> Row | None:
    row: Row = dict.fromkeys(CUSTOMER) | {"is_deleted": True}
    if said["_webhook_topic"] == "customers/delete":
        return row | {"customer_id": text(said["id"])}
    if said["status"] != "completed":
        return None
    kept, gone = _number(said["customer_kept_id"]), _number(said["customer_deleted_id"])
    return row | {"customer_id": gone, "merged_into_id": kept}


def refund(said: Row) -> Row:
    """What was paid back: the refund's own transactions that succeeded. Of what is no list of
    objects nobody could tell.
    """
    moved = nested(said["transactions"])
    is_list = isinstance(moved, list) and all(isinstance(one, dict | None) for one in moved)
    paid = [one for one in moved if _is_paid_back(one)] if is_list else []
    amounts = [amount(inside(one, "amount")) for one in paid]
    known = [a for a in amounts if a is not None]
    is_told = is_list and len(known) == len(amounts)
    currencies = [c for c in (upper(inside(one, "currency")) for one in paid) if c]
    return {
        "refund_id": text(said["id"]),
        "order_id": text(said["order_id"]),
        "amount": sum(known, Decimal("0.00")) if is_told else None,
        "currency": max(currencies, default=None),
        "created_at": instant(said["created_at"]),
    }


def _is_paid_back(one: Any) -> bool:
    return lower(inside(one, "kind")) == "refund" and lower(inside(one, "status")) == "success"


def _number(name: Any) -> str | None:
    """Of `gid://shopify/Customer/17`: 17."""
    return (text(name) or "").rpartition("/")[2] or None
