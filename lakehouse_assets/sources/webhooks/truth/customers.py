"""What is known of each person: what they ordered and paid, and all of it on one page.

- customer_metrics: the amounts are of the currency of most orders, then of the greater code; a
  refund counts if it is in its order's currency. Cancelled orders are no orders; those of
  a merged account are whose it became, over MERGES merges at most. `churn_band`: up
  to one and a half times the usual days between orders is low, up to three times medium; the usual
  days of one who ordered less than thrice are USUAL_DAYS.
- customer_360: of names the one in the newest record, of stages that of the newest contact; a tie
  goes to the greater (source, id). The payments system is asked by mailboxes that are no
  role's and on no more than EMAIL_RECORDS records.

What the web shop tells, see `storefront`, stands beside that; who ordered anywhere is a customer.

The day as of which days are counted, and what the payments system tells, are taken as given: the
one is told by the clock, the other by records of another source. Without a day nobody can count
days, without payments there are none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.webhooks.truth import hubspot, shopify, storefront, stripe
from lakehouse_assets.sources.webhooks.truth.entities import INDEX, Who
from lakehouse_assets.sources.webhooks.truth.orders import average, real
from lakehouse_assets.sources.webhooks.truth.people import EMAIL_RECORDS, is_role
from lakehouse_assets.sources.webhooks.truth.values import Row, Tables, total

METRICS, PAGE = "analytics.customer_metrics", "marts.customer_360"
AS_OF, PAYERS = "semantic.as_of", "analytics.payer_days"
KEYS: dict[str, tuple[str, ...]] = {METRICS: ("entity_id",), PAGE: ("entity_id",)}
USUAL_DAYS, MERGES = 60, 6

Theirs = dict[Who, list[Row]]  # by entity


def tables(truth: Tables) -> Tables:
    people: dict[Who, list[Row]] = defaultdict(list)
    for record in truth[INDEX]:
        people[record["entity_id"]].append(record)
    today = next((row["as_of_on"] for row in truth[AS_OF]), None)
    became = {row["customer_id"]: row["merged_into_id"] for row in truth[shopify.CUSTOMERS]}
    real_orders = [
        order | {"customer_id": _kept(order["customer_id"], became)}
        for order in real(truth[shopify.ORDERS])
    ]
    orders = _of(people, "shopify", "customer_id", real_orders)
    charges = _of(people, "stripe", "customer_id", truth[stripe.CHARGES])
    back: dict[tuple[str, str | None], Decimal] = defaultdict(Decimal)
    for refund in truth[shopify.REFUNDS]:
        back[refund["order_id"], refund["currency"]] += refund["amount"]
    metrics: list[Row] = [
        {"entity_id": who, "sources": sorted({record["source"] for record in people[who]})}
        | _ordered(orders[who], back, today) | _paid(charges[who])
        for who in sorted(people)
    ]  # fmt: skip
    contacts = _of(people, "hubspot", "contact_id", truth[hubspot.CONTACTS])
    mailboxes = Counter(record["email_normalized"] for record in truth[INDEX])
    own = {box for box, n in mailboxes.items() if box and n <= EMAIL_RECORDS and not is_role(box)}
    payers = [day for day in truth[PAYERS] if day["email_normalized"] in own]
    bought = {row["entity_id"]: row for row in truth[storefront.METRICS]}
    pages = []
    for row in metrics:
        who = row["entity_id"]
        shop = {n: bought.get(who, storefront.NOTHING)[n] for n in storefront.NOTHING}
        pages.append(_page(people[who], contacts[who], row, payers, shop))
    return {METRICS: metrics, PAGE: pages}


def _kept(account: str | None, became: Mapping[str, str | None]) -> str | None:
    """Whose an account is after it was merged, again and again."""
    for _ in range(MERGES):
        account = became.get(account or "") or account
    return account


def _of(people: Theirs, source: str, key: str, rows: Iterable[Row]) -> Theirs:
    """Rows by the entity of their customer in this system."""
    whose = {
        record["source_id"]: who
        for who, records in people.items() for record in records if record["source"] == source
    }  # fmt: skip
    found: dict[Who, list[Row]] = defaultdict(list)
    for row in rows:
        if row[key] in whose:
            found[whose[row[key]]].append(row)
    return found


def _ordered(
    orders: list[Row], back: Mapping[tuple[str, str | None], Decimal], today: date | None
) -> Row:
    counts = Counter(order["currency"] for order in orders)
    currency = max(counts, key=lambda code: (counts[code], code), default=None)
    own = [order for order in orders if order["currency"] == currency]
    gross = total(order["total_amount"] for order in own)
    refunded = total(back.get((order["order_id"], currency)) for order in own)
    times = sorted(order["created_at"] for order in orders)
    since = (today - times[-1].date()).days if today and times else None
    return {
        "currency": currency,
        "orders": len(orders),
        "other_currency_orders": len(orders) - len(own),
        "first_order_at": times[0] if times else None,
        "last_order_at": times[-1] if times else None,
        "gross_amount": gross,
        "refunded_amount": refunded,
        "net_amount": gross - refunded,
        "average_order_amount": average(gross, len(own)),
        "days_since_last_order": since,
        "churn_band": None if since is None else _churn(since, [time.date() for time in times]),
    }


def _churn(since: int, days: list[date]) -> str:
    between = (days[-1] - days[0]).days / (len(days) - 1) if len(days) > 2 else USUAL_DAYS
    return "low" if since <= 1.5 * between else "medium" if since <= 3 * between else "high"


def _paid(charges: list[Row]) -> Row:
    states = Counter(charge["status"] for charge in charges)
    return {"payments_succeeded": states["succeeded"], "payments_failed": states["failed"]}


def _page(
    records: list[Row], contacts: list[Row], metrics: Row, payers: list[Row], shop: Row
) -> Row:
    mailboxes = _each(records, "email_normalized")
    paid = [day for day in payers if day["email_normalized"] in mailboxes]
    called = sorted(records, key=lambda row: (row["updated_at"], row["source"], row["source_id"]))
    told = sorted(contacts, key=lambda row: (row["updated_at"], row["contact_id"]))
    last_charge_at = max((day["last_charge_at"] for day in paid), default=None)
    heard = [called[-1]["updated_at"], metrics["last_order_at"], last_charge_at,
             shop["last_order_at"]]  # fmt: skip
    own = {name: value for name, value in metrics.items() if name not in (
        "sources", "other_currency_orders"
    )}  # fmt: skip
    return own | {
        "full_name": _last(called, "full_name"),
        "emails": mailboxes,
        "phones": _each(records, "phone_normalized"),
        "companies": _each(contacts, "company_name"),
        **{
            f"{source}_ids": sorted(r["source_id"] for r in records if r["source"] == source)
            for source in ("shopify", "stripe", "hubspot", "storefront")
        },
        **{f"storefront_{name}": value for name, value in shop.items()},
        "lifecycle_stage": _last(told, "lifecycle_stage")
        or ("customer" if metrics["orders"] or shop["orders"] else "lead"),
        "provider_charges": sum(day["charges"] for day in paid),
        "provider_succeeded": sum(day["succeeded"] for day in paid),
        "provider_failed": sum(day["failed"] for day in paid),
        "max_risk_score": max(_each(paid, "max_risk_score"), default=None),
        "last_charge_at": last_charge_at,
        "last_activity_at": max(at for at in heard if at is not None),
    }


def _each(rows: Iterable[Row], column: str) -> list[Any]:
    """Every value there is, once, sorted."""
    return sorted({row[column] for row in rows} - {None})


def _last(rows: list[Row], column: str) -> Any:
    """What the last row says that says anything."""
    return next((row[column] for row in reversed(rows) if row[column] is not None), None)
