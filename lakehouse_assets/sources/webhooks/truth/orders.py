"""What the shop sold: the lines of its orders, everybody's first order, and the days' sums.

- order_lines: of a line without an id `#` and its place stands for it; of two with the same id the
  first one counts. Of what is no list of objects nobody could tell.
- first_orders: the oldest of those that were not cancelled, then the least id.
- order_summary: `discount_amount` is what was taken off goods whose price is known; prices are told
  without the taxes that they may contain.
- payment_metrics: refunds and fees on the day of their charge, disputes on their own.
- sales_dashboard_daily: without cancelled orders. Refunds stand on the day on which they were made,
  whatever became of their order; those of nothing have no currency and are not counted. A customer
  is new on the day of their first order, in each currency that they ordered in on it.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lakehouse_assets.sources.webhooks.truth import shopify, stripe
from lakehouse_assets.sources.webhooks.truth.values import (
    CENT,
    Row,
    Tables,
    amount,
    inside,
    nested,
    orderable,
    text,
    total,
    whole,
)

LINES, FIRSTS = "semantic.order_lines", "semantic.first_orders"
SUMMARY, PAYMENTS = "analytics.order_summary", "analytics.payment_metrics"
SALES = "marts.sales_dashboard_daily"
KEYS: dict[str, tuple[str, ...]] = {
    LINES: ("order_id", "line_id"),
    FIRSTS: ("customer_id",),
    SUMMARY: ("order_date", "currency", "financial_status"),
    PAYMENTS: ("paid_on", "currency"),
    SALES: ("order_date", "currency"),
}
TOP = 5  # products of a day that are told

Day = tuple[date, str]  # and currency


def tables(truth: Tables) -> Tables:
    orders = truth[shopify.ORDERS]
    lines, firsts = [line for order in orders for line in _lines(order)], _firsts(orders)
    return {
        LINES: lines,
        FIRSTS: firsts,
        SUMMARY: _summary(orders),
        PAYMENTS: _payments(truth[stripe.CHARGES], truth[stripe.DISPUTES]),
        SALES: _sales(truth, lines, firsts),
    }


def real(orders: Iterable[Row]) -> list[Row]:
    """Cancelled orders are no orders, whether or not they had been paid."""
    return [o for o in orders if o["financial_status"] != "voided" and not o["cancelled_at"]]


def _lines(order: Row) -> list[Row]:
    said = nested(order["_line_items"])
    is_told = all(isinstance(line, dict | None) for line in said)
    lines: dict[str, Row] = {}
    for place, line in enumerate(said if is_told else []):
        name = text(inside(line, "id")) or f"#{place}"
        lines.setdefault(name, {
            "order_id": order["order_id"],
            "line_id": name,
            **{column: text(inside(line, column)) for column in ("product_id", "sku", "title")},
            "quantity": whole(inside(line, "quantity")),
            "price": amount(inside(line, "price")),
            "currency": order["currency"],
            "created_at": order["created_at"],
        })  # fmt: skip
    return [lines[name] for name in sorted(lines)]


def _firsts(orders: Iterable[Row]) -> list[Row]:
    firsts: dict[str, Row] = {}
    for order in sorted(real(orders), key=lambda order: (order["created_at"], order["order_id"])):
        if order["customer_id"] is not None:
            firsts.setdefault(order["customer_id"], {
                name: order[name] for name in ("customer_id", "order_id", "created_at")
            })  # fmt: skip
    return [firsts[name] for name in sorted(firsts)]


def _summary(orders: Iterable[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for order in orders:
        groups[tuple(order[name] for name in KEYS[SUMMARY])].append(order)
    return [
        dict(zip(KEYS[SUMMARY], key, strict=True)) | _summed(groups[key])
        for key in sorted(groups, key=lambda key: list(map(orderable, key)))
    ]


def _summed(orders: list[Row]) -> Row:
    def known(column: str) -> Decimal | None:
        found = [order[column] for order in orders if order[column] is not None]
        return total(found) if found else None

    prices = [(_untaxed(order), order["discount_amount"]) for order in orders]
    priced = [(goods, off) for goods, off in prices if goods is not None]
    net = total(goods for goods, _ in priced) if priced else None
    discounts = total(off for _, off in priced)
    return {
        "orders": len(orders),
        "line_items": sum(order["line_item_count"] for order in orders),
        "gross_amount": None if net is None else net + discounts,
        "discount_amount": discounts if priced else None,
        "net_amount": net,
        "tax_amount": known("tax_amount"),
        "shipping_amount": known("shipping_amount"),
        "total_amount": known("total_amount"),
    }


def _untaxed(order: Row) -> Decimal | None:
    """What its goods cost without the tax."""
    subtotal: Decimal | None = order["subtotal_amount"]
    tax: Decimal | None = order["tax_amount"]
    if not order["is_tax_included"]:
        return subtotal
    return None if subtotal is None or tax is None else subtotal - tax


def _payments(charges: Iterable[Row], disputes: Iterable[Row]) -> list[Row]:
    made, fought = _by_day(charges), _by_day(disputes)
    rows = []
    for day, currency in sorted(made.keys() | fought.keys()):
        paid, disputed = made[day, currency], fought[day, currency]
        good = [charge for charge in paid if charge["status"] == "succeeded"]
        rows.append({
            "paid_on": day,
            "currency": currency,
            "charges": len(paid),
            "succeeded": len(good),
            "success_rate": _rate(paid),
            "amount": total(charge["amount"] for charge in good),
            "refunds": sum((charge["refunded_amount"] or 0) > 0 for charge in paid),
            "refunded_amount": total(charge["refunded_amount"] for charge in paid),
            "disputes": len(disputed),
            "disputed_amount": total(dispute["amount"] for dispute in disputed),
            "fee_amount": total(charge["fee_amount"] for charge in paid),
        })  # fmt: skip
    return rows


def _by_day(rows: Iterable[Row]) -> dict[Day, list[Row]]:
    """By the day on which they were made, and by their currency."""
    days: dict[Day, list[Row]] = defaultdict(list)
    for row in rows:
        days[row["created_at"].date(), row["currency"]].append(row)
    return days


def _rate(charges: list[Row]) -> float | None:
    good = sum(charge["status"] == "succeeded" for charge in charges)
    return good / len(charges) if charges else None


def _sales(truth: Tables, lines: list[Row], firsts: list[Row]) -> list[Row]:
    sold, paid = _by_day(real(truth[shopify.ORDERS])), _by_day(truth[stripe.CHARGES])
    back = _by_day(refund for refund in truth[shopify.REFUNDS] if refund["currency"])
    first = {(row["customer_id"], row["created_at"].date()) for row in firsts}
    of_order: dict[str, list[Row]] = defaultdict(list)
    for line in lines:
        of_order[line["order_id"]].append(line)
    rows = []
    for day, currency in sorted(sold.keys() | back.keys() | paid.keys()):
        orders, refunds = sold[day, currency], back[day, currency]
        customers = {order["customer_id"] for order in orders} - {None}
        gross = total(order["total_amount"] for order in orders)
        refunded = total(refund["amount"] for refund in refunds)
        rows.append({
            "order_date": day,
            "currency": currency,
            "orders": len(orders),
            "customers": len(customers),
            "new_customers": sum((customer, day) in first for customer in customers),
            "gross_amount": gross,
            "refunded_amount": refunded,
            "net_amount": gross - refunded,
            "average_order_amount": average(gross, len(orders)),
            "refunds": len(refunds),
            "payment_success_rate": _rate(paid[day, currency]),
            "top_products": _best(line for o in orders for line in of_order[o["order_id"]]),
        })  # fmt: skip
    return rows


def average(amount: Decimal, count: int) -> Decimal | None:
    return (amount / count).quantize(CENT, ROUND_HALF_UP) if count else None


def _best(lines: Iterable[Row]) -> list[Row]:
    """The titles of which most were sold, then the least; how many nobody could tell come last."""
    sold: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        if line["title"] is not None:
            sold[line["title"]] += [] if line["quantity"] is None else [line["quantity"]]
    best = sorted(sold, key=lambda title: (not sold[title], -sum(sold[title]), orderable(title)))
    return [{"title": title, "quantity": sum(sold[title]) if sold[title] else None}
            for title in best[:TOP]]  # fmt: skip
