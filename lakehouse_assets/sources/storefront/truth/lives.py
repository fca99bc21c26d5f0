"""Rows as they are now, and as they were, told from the changes in the order of the database's log.

`lsn` is a change's place in the log, then `order_in_transaction`; but what arrived after a snapshot
is after it wherever in the log it stands. A reset ends all rows from before it. A history has a
version for each time that something was so, deletions included, without a gap; the first one holds
since the row was made. A clock that went back stands still, and of what lasted no time nothing is
told.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from lakehouse_assets.sources.storefront.truth.changes import DELETED, READ_ANEW, RESETS
from lakehouse_assets.sources.storefront.truth.shape import Table

Row = dict[str, Any]
Tables = dict[str, list[Row]]
Numbered = tuple[int, Row]

CUSTOMERS = "semantic.storefront_customer_history"
PRODUCTS = "semantic.storefront_product_history"
PEOPLE = "semantic.storefront_people"
KEYS: dict[str, tuple[str, ...]] = {
    CUSTOMERS: ("customer_id", "valid_from_at"), PRODUCTS: ("product_id", "valid_from_at"),
    PEOPLE: ("customer_id",),
}  # fmt: skip
KNOWN: dict[str, tuple[str, ...]] = {  # of what is there
    CUSTOMERS: ("email", "country", "segment", "is_subscribed"),
    PRODUCTS: ("category_id", "sku", "name", "price", "currency", "is_active"),
    PEOPLE: ("email", "phone", "first_name", "last_name", "country"),
}


def current(table: Table, staged: list[Row]) -> list[Row]:
    """The last change of each key, unless it deleted the row or a reset swept it away."""
    wanted = [column.name for column in table.columns] + ["changed_at", "lsn"]
    return [
        {name: last[name] for name in wanted}
        for last, is_there in _last(table.key, staged) if is_there
    ]  # fmt: skip


def people(staged: list[Row]) -> list[Row]:
    """Every customer there ever was; of one who is no more the id and the times alone."""
    return [
        {name: last[name] if is_there else None for name in KNOWN[PEOPLE]}
        | {name: last[name] for name in ("customer_id", "created_at", "updated_at")}
        | {"is_deleted": not is_there}
        for last, is_there in _last(KEYS[PEOPLE], staged)
    ]


def _last(key: tuple[str, ...], staged: list[Row]) -> list[tuple[Row, bool]]:
    """The last change of each key, and whether it left a row that no reset swept away."""
    found: dict[tuple[Any, ...], tuple[Row, bool]] = {}
    for row in _in_order(staged):
        if row["op"] in RESETS:
            found = {one: (last, False) for one, (last, _) in found.items()}
        else:
            found[tuple(row[name] for name in key)] = (row, row["op"] != DELETED)
    return [last for _, last in sorted(found.items())]


def _in_order(staged: Iterable[Row]) -> list[Row]:
    """As things happened. Of what a snapshot read its reset is the first."""
    rows = list(staged)
    taken = {row["lsn"]: row["arrived_at"] for row in rows if row["op"] == READ_ANEW}

    def order(row: Row) -> tuple[Any, ...]:
        lsn = row["lsn"]
        if row["op"] in ("r", READ_ANEW):
            if lsn in taken:
                return (lsn, 0, row["op"] != READ_ANEW)
            before = [one for one in taken if one < lsn]
        else:
            before = [one for one, at in taken.items() if one < lsn or at <= row["arrived_at"]]
        return (max(before, default=0), 1, *_place(row))

    return sorted(rows, key=order)


def _place(row: Row) -> tuple[Any, ...]:
    """A deletion where the row was comes before what is told of it where it is."""
    return (row["lsn"], row["order_in_transaction"] or 0, row["op"] != DELETED)


def histories(staged: Tables) -> Tables:
    return {
        CUSTOMERS: _history(CUSTOMERS, staged["staging.stg_storefront_customers"]),
        PRODUCTS: _history(PRODUCTS, staged["staging.stg_storefront_products"]),
        PEOPLE: people(staged["staging.stg_storefront_customers"]),
    }


def _history(name: str, staged: list[Row]) -> list[Row]:
    (key, _), found = KEYS[name], []
    resets, lives = list[Numbered](), defaultdict[Any, list[Numbered]](list)
    for number, row in enumerate(_in_order(staged)):
        (resets if row["op"] in RESETS else lives[row[key]]).append((number, row))
    for id, own in sorted(lives.items()):
        life = sorted(own + resets, key=lambda one: one[0])
        for version in _versions([row for _, row in life]):
            gone = version["is_deleted"]
            known = {n: None if gone else version[n] for n in KNOWN[name]}
            always = ("valid_from_at", "valid_to_at", "is_current", "is_deleted", "created_at")
            found.append({key: id} | known | {n: version[n] for n in always})
    return found


def _versions(life: list[Row]) -> list[Row]:
    """Of one key's changes, and all resets: one that a row of the same snapshot follows is none."""
    there = {row["lsn"] for row in life if row["op"] == "r"}
    told = [row for row in life if row["op"] != READ_ANEW or row["lsn"] not in there]
    while told[0]["op"] in RESETS:
        told = told[1:]
    made = min((row["created_at"] for row in told if row["created_at"]), default=None)
    told = [
        row | {"is_deleted": True, "created_at": made} if row["op"] in RESETS
        else row | {"is_deleted": row["op"] == DELETED}
        for row in told
    ]  # fmt: skip
    since = list(accumulate((row["changed_at"] for row in told), max))
    if told[0]["created_at"]:
        since[0] = min(since[0], told[0]["created_at"])
    was_deleted = [True, *(row["is_deleted"] for row in told)]
    news = [
        row | {"valid_from_at": at}
        for row, at, was in zip(told, since, was_deleted, strict=False)
        if not (row["is_deleted"] and was)
    ]
    ends = [row["valid_from_at"] for row in news[1:]] + [None]
    versions = [row | {"valid_to_at": end, "is_current": end is None}
                for row, end in zip(news, ends, strict=True)]  # fmt: skip
    return [row for row in versions if row["valid_to_at"] != row["valid_from_at"]]
