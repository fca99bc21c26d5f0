"""What a captured change is in staging: a row for what it says, two where a row's day changes.

A change of `created_at` is told as a deletion where the row was and as new where it is. A reset has
no row: its columns are NULL. The record that ends a table in a snapshot is a reset and a row; so is
the first of the whole snapshot, for it may be its table's only one and is marked as first alone. A
long value that was not sent again is what it was before.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from lakehouse_assets.sources.oracle import WrongTypeError, instant
from lakehouse_assets.sources.storefront.truth.shape import DAY, Column, Table

Row = dict[str, Any]

UNSENT = "__debezium_unavailable_value"
SNAPSHOT_ENDS = ("first", "last", "last_in_data_collection", "last_in_db_schema")
TRUNCATED, READ_ANEW, DELETED = "t", "s", "d"
RESETS = (TRUNCATED, READ_ANEW)
OPS = ("c", "u", DELETED, "r", *RESETS)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def told(table: Table, record: Row, arrived_at: datetime) -> list[Row]:
    """The rows of one good record of raw."""
    source, transaction = record["source"] or {}, record["transaction"] or {}
    millis = source.get("ts_ms")
    changed_at = None if millis is None else EPOCH + timedelta(milliseconds=millis)
    about = {
        "lsn": source.get("lsn"), "order_in_transaction": transaction.get("total_order"),
        "transaction_id": source.get("txId"), "changed_at": changed_at, "arrived_at": arrived_at,
    }  # fmt: skip
    found = []
    for op, said in _said(record):
        row = {c.name: _cast(c, said, record["before"]) for c in table.columns}
        on = row[DAY] or changed_at
        day = {"event_date": on and on.date(), "event_date_source": DAY if row[DAY] else "ts_ms"}
        found.append(row | about | day | {"op": op})
    return found


def _said(record: Row) -> list[tuple[str | None, Row]]:
    """Operations, each with the shop's row."""
    op, before, after = record["op"], record["before"], record["after"]
    now = after or before or {}
    if op == TRUNCATED:
        return [(TRUNCATED, {})]
    if op == "r" and (record["source"] or {}).get("snapshot") in SNAPSHOT_ENDS:
        return [(READ_ANEW, {}), (op, now)]
    if op == "u" and (before or {}).get(DAY) != (after or {}).get(DAY):
        return [(DELETED, before or {}), (op, now)]
    return [(op, now)]


def _cast(column: Column, said: Row, before: Row | None) -> Any:
    value = said.get(column.origin)
    if value in (UNSENT, [UNSENT]):
        value = (before or {}).get(column.origin)
    if value is None:
        return None
    if column.kind == "day":
        return (EPOCH + timedelta(days=value)).date()
    if column.kind != "instant":
        return value
    try:
        return instant(value)
    except WrongTypeError:
        return None


def refused(table: Table, row: Row) -> str:
    """The rules that a row breaks, in their order; '' for a good one."""
    rules = {
        "event_date_present": row["event_date"] is not None,
        "op_present": row["op"] is not None,
        "op_known": row["op"] is None or row["op"] in OPS,
        "lsn_present": row["lsn"] is not None,
        "changed_at_present": row["changed_at"] is not None,
    }
    has_key = row["op"] not in (*RESETS, None)
    keys = {f"{name}_present": row[name] is not None or not has_key for name in table.key}
    return ", ".join(name for name, holds in (rules | keys).items() if not holds)


def once(table: Table, rows: Iterable[Row]) -> list[Row]:
    """Each change once; of what came twice with other content the greatest, then the first."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in sorted(rows, key=lambda row: row["arrived_at"], reverse=True):
        key = tuple(row[name] for name in (*table.key, "op", "lsn"))
        if key not in best or _content(table, row) >= _content(table, best[key]):
            best[key] = row
    return list(best.values())


def _content(table: Table, row: Row) -> list[tuple[Any, ...]]:
    about = ("event_date", "order_in_transaction", "transaction_id", "changed_at",
             "event_date_source")  # fmt: skip
    names = [column.name for column in table.columns]
    return [_orderable(row[name]) for name in (*names, *about)]


def _orderable(value: Any) -> tuple[Any, ...]:
    """Nulls first, text by its UTF-8 bytes."""
    if value is None:
        return (0,)
    if isinstance(value, list):
        return (1, [_orderable(one) for one in value])
    return (1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)
