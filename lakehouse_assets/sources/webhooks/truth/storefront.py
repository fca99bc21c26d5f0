"""What the web shop knows of each person who is a customer there.

Its customers and orders are taken as given: another source's truth tells them. A cancelled order is
none, a refunded one brings nothing. The currency is that of most orders, then the greater code; the
segment that of the newest record, then of the greater id.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal

from lakehouse_assets.sources.webhooks.truth.entities import INDEX, Who
from lakehouse_assets.sources.webhooks.truth.values import Row, Tables, total

METRICS = "analytics.storefront_customer_metrics"
CUSTOMERS, ORDERS = "semantic.storefront_customers", "semantic.storefront_orders"
KEYS: dict[str, tuple[str, ...]] = {METRICS: ("entity_id",)}
NOTHING: Row = {
    "segment": None, "currency": None, "orders": 0, "first_order_at": None, "last_order_at": None,
    "net_amount": Decimal("0.00"),
}  # fmt: skip


def tables(truth: Tables) -> Tables:
    whose: dict[str, Who] = {
        row["source_id"]: row["entity_id"] for row in truth[INDEX] if row["source"] == "storefront"
    }
    customers = _by_entity(whose, truth[CUSTOMERS])
    orders = _by_entity(whose, truth[ORDERS])
    return {METRICS: [
        {"entity_id": who, "segment": _segment(customers[who])} | _bought(orders[who])
        for who in sorted(set(whose.values()))
    ]}  # fmt: skip


def _by_entity(whose: dict[str, Who], rows: Iterable[Row]) -> dict[Who, list[Row]]:
    found: dict[Who, list[Row]] = defaultdict(list)
    for row in rows:
        if str(row["customer_id"]) in whose:
            found[whose[str(row["customer_id"])]].append(row)
    return found


def _segment(customers: list[Row]) -> str | None:
    known = sorted(customers, key=lambda row: (row["updated_at"], row["customer_id"]))
    return known[-1]["segment"] if known else None


def _bought(orders: list[Row]) -> Row:
    real = [order for order in orders if order["status"] != "cancelled"]
    counts = Counter(order["currency"] for order in real)
    currency = max(counts, key=lambda code: (counts[code], code), default=None)
    times = sorted(order["created_at"] for order in real)
    return {
        "currency": currency,
        "orders": len(real),
        "other_currency_orders": len(real) - counts[currency],
        "first_order_at": times[0] if times else None,
        "last_order_at": times[-1] if times else None,
        "net_amount": total(
            order["total"] for order in real
            if order["currency"] == currency and order["status"] != "refunded"
        ),
    }  # fmt: skip
