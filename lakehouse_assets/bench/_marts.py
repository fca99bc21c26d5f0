"""The shop's marts beside what its own database comes to, in its own SQL.

What customers have brought, row by row; and of each day what was sold, in all: by category it would
take the products as they were, which the database has forgotten.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
from psycopg.rows import dict_row

from lakehouse_assets.commands.compare import Compared, Row, compare, rows_of
from lakehouse_assets.services.postgres import dsn

DATABASE = "storefront"
DAILY, LIFETIME = "marts.storefront_sales_daily", "marts.storefront_customer_lifetime"
DAY, SUMMED = ("ordered_on", "currency"), (
    "items", "gross_amount", "cancelled_amount", "discount_amount", "net_amount",
)  # fmt: skip
# The discount of an order is spread over its lines: each owes what those up to it owe together.
LINES = """
with costs as (
    select o.id, o.customer_id, o.currency::text, o.created_at, o.discount, i.line, i.quantity,
        o.status in ('cancelled', 'refunded') as is_undone, i.quantity * i.unit_price as gross
    from orders o join order_items i on i.order_id = o.id
), owed as (
    select *, round(discount * sum(gross) over (partition by id order by line)
        / sum(gross) over (partition by id), 2) as until
    from costs
), taken as (
    select *, until - lag(until, 1, 0.00) over (partition by id order by line) as discounted
    from owed
), lines as (
    select *, case when is_undone then 0 else gross - discounted end as net from taken
)
"""
DAYS = """
select (created_at at time zone 'UTC')::date as ordered_on, currency,
    sum(quantity)::bigint as items, sum(gross)::numeric(20, 2) as gross_amount,
    coalesce(sum(gross) filter (where is_undone), 0)::numeric(20, 2) as cancelled_amount,
    sum(discounted)::numeric(20, 2) as discount_amount, sum(net)::numeric(20, 2) as net_amount
from lines group by 1, 2
"""
LIVES = """
select c.id as customer_id, l.currency, c.segment, c.country::text,
    count(distinct l.id) as orders, count(distinct l.id) filter (where is_undone)
    as cancelled_orders, count(distinct l.id) filter (where is_undone)::float8
    / nullif(count(distinct l.id), 0) as cancelled_share,
    coalesce(sum(quantity), 0)::bigint as items,
    coalesce(sum(gross), 0)::numeric(20, 2) as gross_amount,
    coalesce(sum(net), 0)::numeric(20, 2) as net_amount,
    min(l.created_at) as first_order_at, max(l.created_at) as last_order_at
from customers c left join lines l on l.customer_id = c.id
group by c.id, l.currency, c.segment, c.country
"""


def beside_database() -> Iterator[Compared]:
    """At rest: whatever is still on its way is a difference."""
    lives = ({n: v for n, v in row.items() if n[0] != "_"} for row in rows_of(LIFETIME))
    yield compare(LIFETIME, ("customer_id", "currency"), lives, _asked(LIVES))
    yield compare(DAILY, DAY, _by_day(rows_of(DAILY)), _asked(DAYS))


def _by_day(rows: Iterable[Row]) -> Iterator[Row]:
    """Of all categories together."""
    days: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        days[tuple(row[name] for name in DAY)].append(row)
    for day, some in days.items():
        sums = {name: sum(row[name] for row in some) for name in SUMMED}
        yield dict(zip(DAY, day, strict=True)) | sums


def _asked(statement: str) -> list[Row]:
    with psycopg.connect(dsn(DATABASE), row_factory=dict_row, connect_timeout=5) as connection:
        return connection.execute((LINES + statement).encode()).fetchall()
