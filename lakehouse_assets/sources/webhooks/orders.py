"""What happens to an order after it was made, one webhook or two for each step."""

from dataclasses import dataclass
from random import Random

from lakehouse_assets.sources.webhooks import shopify
from lakehouse_assets.sources.webhooks.account import Account
from lakehouse_assets.sources.webhooks.request import Json

TOPIC = {  # of what no topic is named after it is an update
    "paid": "orders/paid", "fulfilled": "orders/fulfilled", "cancelled": "orders/cancelled",
}  # fmt: skip


@dataclass(eq=False)  # it is itself, whatever else is alike
class Order:
    """As it stands, and the steps still to come."""

    content: Json
    account: Account
    left: tuple[str, ...]
    updated_ms: int


def step(rng: Random, order: Order, at: int, number: int) -> list[tuple[str, Json]]:
    """Take the next step, or touch the order if none is left: topics with what they carry."""
    what = order.left[0] if order.left else "noted"
    order.left, order.updated_ms = order.left[1:], at
    made, more = order.content, []
    made["updated_at"] = shopify.instant(at)
    if what == "paid":
        made["financial_status"], made["total_outstanding"] = "paid", "0.00"
        order.account.orders += 1
        order.account.spent += shopify.minor(made["total_price"])
        more.append(("orders/updated", made))  # as Shopify does: twice the same, by two names
    elif what == "fulfilled":
        made["fulfillment_status"] = "fulfilled"
        made["fulfillments"] = [{"id": number, "order_id": made["id"], "status": "success"}]
    elif what == "cancelled":
        made["cancelled_at"], made["cancel_reason"] = made["updated_at"], "customer"
        if made["financial_status"] == "pending":  # what was paid is paid until it is given back
            made["financial_status"] = "voided"
    elif what == "edited":
        made["line_items"].append(shopify.line(rng, number, made["currency"]))
        discount = shopify.minor(made["total_discounts"])
        shopify.add_up(made, order.account, discount, shopify.shipping_of(made))
    elif what == "noted":
        made["note"] = "seen"
    else:
        more.append(("refunds/create", _refunded(made, number, at, what)))
    return [(TOPIC.get(what, "orders/updated"), made), *more]


def _refunded(made: Json, number: int, at: int, how: str) -> Json:
    total = shopify.minor(made["total_price"])
    cents = total if how == "refunded" else total // 2
    refund = shopify.refund(made, number, at, cents)
    made["financial_status"] = how
    made["current_total_price"] = shopify.money(total - cents)
    made["refunds"] = [*made["refunds"], refund]
    return refund
