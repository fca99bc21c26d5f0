"""Each line of an order, with who bought what as both were when it was ordered.

The order's discount is spread over its lines by what they cost: the lines up to one owe together
their part of it, half up, so the last one takes what rounding leaves. Of cancelled and refunded
orders nothing is left.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from lakehouse_assets.sources.storefront.truth.lives import CUSTOMERS, PRODUCTS

Row = dict[str, Any]
Tables = dict[str, list[Row]]

FACTS = "semantic.storefront_order_facts"
KEYS: dict[str, tuple[str, ...]] = {FACTS: ("order_id", "line")}
UNDONE = ("cancelled", "refunded")
CENT = Decimal("0.01")
EXACT = Context(prec=60)


def cents(amount: Decimal | int) -> Decimal:
    return Decimal(amount).quantize(CENT, ROUND_HALF_UP)


def tables(told: Tables) -> Tables:
    orders = {row["order_id"]: row for row in told["semantic.storefront_orders"]}
    names = {row["category_id"]: row["name"] for row in told["semantic.storefront_categories"]}
    customers = _versions(told[CUSTOMERS], "customer_id")
    products = _versions(told[PRODUCTS], "product_id")
    lines: dict[int, list[Row]] = defaultdict(list)
    items = told["semantic.storefront_order_items"]
    for item in sorted(items, key=lambda row: (row["order_id"], row["line"])):
        lines[item["order_id"]].append(item)
    found = []
    for id in sorted(lines.keys() & orders.keys()):
        order = orders[id]
        for item, discount in zip(lines[id], _shares(order, lines[id]), strict=True):
            at = order["created_at"]
            customer = _then(customers[order["customer_id"]], at)
            product = _then(products[item["product_id"]], at)
            found.append(_fact(order, item, discount, customer, product, names))
    return {FACTS: found}


def _shares(order: Row, lines: list[Row]) -> list[Decimal]:
    costs = [cents(line["quantity"] * line["unit_price"]) for line in lines]
    whole, so_far, owed, shares = sum(costs), Decimal(0), cents(0), []
    for cost in costs:
        so_far += cost
        part = EXACT.multiply(order["discount"], so_far)
        until = cents(EXACT.divide(part, Decimal(whole)) if whole else 0)
        shares.append(until - owed)
        owed = until
    return shares


def _fact(
    order: Row, item: Row, discount: Decimal, customer: Row, product: Row, names: dict[int, str]
) -> Row:
    gross = cents(item["quantity"] * item["unit_price"])
    category = product.get("category_id")
    return {
        "order_id": order["order_id"], "line": item["line"], "ordered_at": order["created_at"],
        "status": order["status"], "customer_id": order["customer_id"],
        "customer_country": customer.get("country"), "customer_segment": customer.get("segment"),
        "product_id": item["product_id"], "sku": product.get("sku"),
        "product_name": product.get("name"), "category_id": category,
        "category": names.get(category) if category is not None else None,
        "currency": order["currency"], "list_amount": product.get("price"),
        "unit_amount": item["unit_price"], "quantity": item["quantity"], "gross_amount": gross,
        "discount_amount": discount,
        "net_amount": cents(0) if order["status"] in UNDONE else gross - discount,
    }  # fmt: skip


def _versions(history: Iterable[Row], key: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in history:
        found[row[key]].append(row)
    return found


def _then(versions: Iterable[Row], at: datetime) -> Row:
    """What was so at an instant; nothing where nothing was known."""
    for row in versions:
        if row["valid_from_at"] <= at and (row["valid_to_at"] is None or at < row["valid_to_at"]):
            return row
    return {}
