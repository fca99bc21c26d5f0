"""What the facts come to: by day and category, by customer, by product and week. Amounts of
different currencies are never added.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from lakehouse_assets.sources.storefront.truth.facts import FACTS, UNDONE, cents
from lakehouse_assets.sources.storefront.truth.lives import PRODUCTS

Row = dict[str, Any]
Tables = dict[str, list[Row]]

DAILY = "marts.storefront_sales_daily"
LIFETIME = "marts.storefront_customer_lifetime"
PERFORMANCE = "marts.storefront_product_performance"
KEYS: dict[str, tuple[str, ...]] = {
    DAILY: ("ordered_on", "category_id", "currency"),
    LIFETIME: ("customer_id", "currency"),
    PERFORMANCE: ("product_id", "week_on", "currency"),
}


def tables(told: Tables) -> Tables:
    facts = told[FACTS]
    return {
        DAILY: [_day(*group) for group in _grouped(facts, _of_day)],
        LIFETIME: list(_lifetimes(told["semantic.storefront_customers"], facts)),
        PERFORMANCE: list(_performance(facts, told[PRODUCTS])),
    }


def _grouped(facts: Iterable[Row], key: Any) -> list[tuple[tuple[Any, ...], list[Row]]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for fact in facts:
        found[key(fact)].append(fact)
    return list(found.items())


def _of_day(fact: Row) -> tuple[Any, ...]:
    return (fact["ordered_at"].date(), fact["category_id"], fact["currency"])


def _is_undone(fact: Row) -> bool:
    return fact["status"] in UNDONE


def _orders(facts: Iterable[Row]) -> int:
    return len({fact["order_id"] for fact in facts})


def _sum(facts: Iterable[Row], column: str) -> Any:
    return sum((fact[column] for fact in facts), cents(0))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _day(key: tuple[Any, ...], facts: list[Row]) -> Row:
    undone = list(filter(_is_undone, facts))
    net, stand = _sum(facts, "net_amount"), _orders(facts) - _orders(undone)
    return dict(zip(KEYS[DAILY], key, strict=True)) | {
        "category": facts[0]["category"],
        "orders": _orders(facts),
        "cancelled_orders": _orders(undone),
        "items": sum(fact["quantity"] for fact in facts),
        "gross_amount": _sum(facts, "gross_amount"),
        "cancelled_amount": _sum(undone, "gross_amount"),
        "discount_amount": _sum(facts, "discount_amount"),
        "net_amount": net,
        "average_order_amount": cents(net / stand) if stand else None,
    }


def _lifetimes(customers: Iterable[Row], facts: list[Row]) -> Iterator[Row]:
    """One without orders has a row, too, without a currency."""
    bought: dict[int, list[tuple[str | None, list[Row]]]] = defaultdict(list)
    for (id, currency), some in _grouped(facts, lambda f: (f["customer_id"], f["currency"])):
        bought[id].append((currency, some))
    for customer in customers:
        for currency, some in bought[customer["customer_id"]] or [(None, [])]:
            undone = list(filter(_is_undone, some))
            times = [fact["ordered_at"] for fact in some]
            yield {
                **{name: customer[name] for name in ("customer_id", "segment", "country")},
                "currency": currency,
                "orders": _orders(some),
                "cancelled_orders": _orders(undone),
                "cancelled_share": _share(_orders(undone), _orders(some)),
                "items": sum(fact["quantity"] for fact in some),
                "gross_amount": _sum(some, "gross_amount"),
                "net_amount": _sum(some, "net_amount"),
                "first_order_at": min(times, default=None),
                "last_order_at": max(times, default=None),
            }


def monday(at: datetime) -> date:
    return at.date() - timedelta(days=at.weekday())


def _performance(facts: list[Row], products: list[Row]) -> Iterator[Row]:
    """A week with changes of the price alone has a row without a currency."""
    changes, called = _price_changes(products)
    sold = _grouped(facts, lambda f: (f["product_id"], monday(f["ordered_at"]), f["currency"]))
    weeks = {key[:2] for key, _ in sold}
    unsold = [((*week, None), list[Row]()) for week in changes if week not in weeks]
    for (id, week_on, currency), some in sold + unsold:
        going = [fact for fact in some if not _is_undone(fact)]
        kept, all_of = (sum(f["quantity"] for f in which) for which in (going, some))
        last = max(some, key=lambda f: (f["ordered_at"], f["order_id"], f["line"]), default=None)
        name = last and last["product_name"]
        yield {
            "product_id": id, "week_on": week_on, "currency": currency,
            "product_name": called.get((id, week_on)) if name is None else name,
            "sold": kept, "cancelled": all_of - kept,
            "cancelled_share": _share(all_of - kept, all_of), "orders": _orders(some),
            "revenue_amount": _sum(some, "net_amount"), "price_changes": changes[id, week_on],
        }  # fmt: skip


def _price_changes(products: Iterable[Row]) -> tuple[Counter[Any], dict[Any, str]]:
    """By product and week: how often its price changed, and its name after the last time."""
    lives: dict[int, list[Row]] = defaultdict(list)
    for row in sorted(products, key=lambda row: row["valid_from_at"]):
        if not row["is_deleted"]:
            lives[row["product_id"]].append(row)
    changes, called = Counter[Any](), {}
    for id, life in lives.items():
        for was, now in pairwise(life):
            if was["price"] != now["price"]:
                week = (id, monday(now["valid_from_at"]))
                changes[week] += 1
                called[week] = now["name"]
    return changes, called
