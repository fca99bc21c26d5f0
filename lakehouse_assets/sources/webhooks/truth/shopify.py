"""What staging makes of Shopify's orders and customers: one row per delivery that it accepts."""

from typing import Any

from lakehouse_assets.sources.webhooks.countries import CURRENCIES
from lakehouse_assets.sources.webhooks.truth.values import (
    Json,
    Row,
    amount,
    country,
    inside,
    instant,
    lower,
    missing,
    text,
    upper,
    whole,
)

CUSTOMER = ("customer_id", "email", "phone", "first_name", "last_name", "country", "city",
            "currency", "state", "merged_into_id", "created_at", "updated_at")  # fmt: skip
GONE = ("customers/delete", "customers/merge")


def order(said: Json) -> tuple[Row, list[str]]:
    items, created_at = said.get("line_items"), instant(said.get("created_at"))
    financial, fulfilled = lower(said.get("financial_status")), lower(
        said.get("fulfillment_status")
    )  # fmt: skip
    row = {
        "order_id": text(said.get("id")),
        "order_number": whole(said.get("order_number")),
        "customer_id": text(inside(said, "customer", "id")),
        "email": lower(said.get("email")),
        "total_amount": amount(said.get("total_price")),
        "subtotal_amount": amount(said.get("subtotal_price")),
        "tax_amount": amount(said.get("total_tax")),
        "discount_amount": amount(said.get("total_discounts")),
        "shipping_amount": amount(inside(said, "total_shipping_price_set", "shop_money", "amount")),
        "currency": upper(said.get("currency")),
        "line_item_count": len(items) if isinstance(items, list) else None,
        "financial_status": financial,
        "fulfillment_status": fulfilled,
        "is_paid": financial == "paid",
        "is_fulfilled": fulfilled == "fulfilled",
        **_place("shipping", said.get("shipping_address")),
        **_place("billing", said.get("billing_address")),
        "order_date": created_at and created_at.date(),
        "created_at": created_at,
        "updated_at": instant(said.get("updated_at")),
    }
    broken = missing(
        row, ("order_id", "total_amount", "currency", "line_item_count", "created_at", "updated_at")
    )
    if row["currency"] and row["currency"] not in CURRENCIES:
        broken.append("currency_known")
    if row["total_amount"] is not None and row["total_amount"] < 0:
        broken.append("total_amount_not_negative")
    return row, broken


def _place(kind: str, said: Any) -> Row:
    return {
        f"{kind}_city": text(inside(said, "city")),
        f"{kind}_state": text(inside(said, "province")),
        f"{kind}_country": country(inside(said, "country_code")),
    }


def customer(said: Json) -> tuple[Row, list[str]] | None:
    """A deletion, or what was merged into another, keeps its id alone; a merge that did not
    succeed says nothing.
    """
    if said["_webhook_topic"] in GONE:
        return _gone(said)
    home = said.get("default_address")
    row = {
        "customer_id": text(said.get("id")),
        "email": text(said.get("email")),
        "phone": text(said.get("phone")),
        "first_name": text(said.get("first_name")),
        "last_name": text(said.get("last_name")),
        "country": country(inside(home, "country_code")),
        "city": text(inside(home, "city")),
        "currency": upper(said.get("currency")),
        "state": lower(said.get("state")),
        "merged_into_id": None,
        "created_at": instant(said.get("created_at")),
        "updated_at": instant(said.get("updated_at")),
        "is_deleted": False,
    }
    return row, missing(row, ("customer_id", "created_at", "updated_at"))


def _gone(said: Json) -> tuple[Row, list[str]] | None:
    row: Row = dict.fromkeys(CUSTOMER) | {"is_deleted": True}
    if said["_webhook_topic"] == "customers/delete":
        row["customer_id"] = text(said.get("id"))
    elif said.get("status") == "completed":
        row["customer_id"] = _number(said.get("admin_graphql_api_customer_deleted_id"))
        row["merged_into_id"] = _number(said.get("admin_graphql_api_customer_kept_id"))
    else:
        return None
    return row, missing(row, ("customer_id",))


def _number(name: Any) -> str | None:
    """Of `gid://shopify/Customer/17`: 17."""
    return (text(name) or "").rpartition("/")[2] or None
