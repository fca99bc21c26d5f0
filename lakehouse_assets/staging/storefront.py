"""The shop's tables in staging, one row per change, made from `storefront_tables.yaml`.

Deletions and what a snapshot or TRUNCATE swept away are rows, too: nothing is ever removed here, so
that what a row is now, and was, can be told from it in the database's own order (`lsn`, then
`order_in_transaction`; `semantic.shop` puts snapshots into it). A row whose `event_date` column
changes is told as deleted where it was and as new where it is: by that instant this table's
children skip files. Partitions are months of `event_date`: a snapshot tells of years at once, and
a file for each of their days would be one of many that hold next to nothing. Nothing is joined.
"""

import importlib
from pathlib import Path
from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Across, Column, Layout, Rule, column, newest
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable, table_asset
from lakehouse_assets.raw.change import OPS
from lakehouse_assets.staging.entries import Entry, entries

FILE = Path(__file__).with_name("storefront_tables.yaml")
UNCHANGED = "__debezium_unavailable_value"  # a long value that an update left where it was
# Of a snapshot's rows a table's last one. It may be the first one too, and is marked as last alone;
# but the very first of all, even where its table has no other, is marked as first alone.
ENDS = ("first", "last", "last_in_data_collection", "last_in_db_schema")
TRUNCATED, READ_ANEW = "t", "s"
RESETS = (TRUNCATED, READ_ANEW)  # nothing that was before them is there any more


class ChangeLog(StagingTable):
    """Base of the shop's staging contracts: what every change has beside its row."""

    op = column("string", "c, u, d, r; t, s: all rows before it are gone.", key=True,
                isin=(*OPS, READ_ANEW))  # fmt: skip
    lsn = column("bigint", "Its place in the database's log.", key=True)
    order_in_transaction = column("bigint", "Its place in its transaction.", nullable=True)
    transaction_id = column("bigint", "The transaction.", nullable=True)
    changed_at = column("timestamp", "When the database committed it, UTC.")
    event_date = column("date", "The day it belongs to, UTC.")
    event_date_source = column("string", "Which column told the day, or ts_ms.")
    _lost = column("string", "Columns whose value could not be cast.", nullable=True)

    of: ClassVar[str] = "not is_deletion"
    layout: ClassVar[Layout] = Layout(
        partitioned_by="months(event_date)", scope=newest(by="lsn", at="changed_at")
    )


def contract(name: str, entry: Entry) -> type[ChangeLog]:
    """An entry as a contract. A reset has no row, so no column but those of a change is there in
    all of them.
    """
    for n, c in entry.columns.items():
        if n in ChangeLog.columns:
            raise c.wrong(f"{name}.{n}: every change has a column of that name; choose another")
    columns = {
        n: Column(c.type, c.doc, key=c.key, nullable=True, pii=c.pii, field=c.origin)
        for n, c in entry.columns.items()
    }
    present = [
        Rule(f"{n}_present", f"op in {RESETS} or `{n}` is not null", "must not be NULL",
             refuses=c.key)
        for n, c in entry.columns.items() if not c.nullable
    ]  # fmt: skip
    # Where it is from is part of the contract: another one makes other rows.
    day = Column("date", "The day it belongs to, UTC.", field=entry.event_date)
    whole = Rule("casts_lose_nothing", "_lost is null", "all values can be cast", refuses=False)
    keys = ", ".join(n for n, c in entry.columns.items() if c.key)
    return type(
        f"StgStorefront_{name}", (ChangeLog,),
        {"rules": (*present, whole), "across": (_in_order(name, keys),),
         "__module__": __name__, "__doc__":
         f"staging.stg_storefront_{name}: one row per change of {entry.what}."}
        | columns | {"event_date": day}, name=f"staging.stg_storefront_{name}",
    )  # fmt: skip


def _in_order(name: str, keys: str) -> Across:
    """Kafka keeps a key's changes in one partition, so both orders have to be the same."""
    return Across(
        "order_never_goes_back",
        f"""select * from (select {keys}, op, lsn, lag(lsn) over (
                partition by {keys}, _record.topic_generation, _record.kafka_partition
                order by _record.kafka_offset, lsn) as lsn_before
            from staging.stg_storefront_{name} where op in ('c', 'u', 'd'))
        where lsn < lsn_before""",
        "a row's changes stand in Kafka as they stand in the database's log",
    )


def rows(entry: Entry, row: dict[str, str], changes: DataFrame) -> DataFrame:
    """The records that tell a change, as rows. `row`: what the capture sends, and as what."""
    good = changes.where("_error is null and not is_deletion")
    each = good.withColumn("change", F.expr(f"explode({_told(entry)})"))
    day = entry.event_date
    said = {n: _said(c.origin, row[c.origin]) for n, c in entry.columns.items()}
    made = {n: cast(said[n], row[c.origin], c.type) for n, c in entry.columns.items()}
    lost = [f"if({made[n]} is null and {sql} is not null, '{n}', null)"
            for n, sql in said.items() if made[n] != sql]  # fmt: skip
    born = f"({made[day]})" if day else "cast(null as timestamp)"
    changed = "timestamp_millis(source.ts_ms)"
    return each.selectExpr(
        *[f"{sql} as `{n}`" for n, sql in made.items()],
        "change.op as op", "source.lsn as lsn", "transaction.total_order as order_in_transaction",
        "source.txId as transaction_id", f"{changed} as changed_at",
        f"to_date(coalesce({born}, {changed})) as event_date",
        f"if({born} is null, 'ts_ms', '{day or 'ts_ms'}') as event_date_source",
        f"nullif(concat_ws(', ', {', '.join(lost)}), '') as _lost",
        "arrived_at", RECORD,
    )  # fmt: skip


def _told(entry: Entry) -> str:
    """SQL: the one or two changes of a record, each with its row, in an array."""
    row = "coalesce(after, before)"
    reset = "named_struct('op', '{}', 'now', if(true, null, {}))".format
    here = f"named_struct('op', op, 'now', {row})"
    cases = [
        f"when op = '{TRUNCATED}' then array({reset(TRUNCATED, row)})",
        f"when op = 'r' and source.snapshot in {ENDS} then array({reset(READ_ANEW, row)}, {here})",
    ]
    if entry.event_date:
        born = entry.columns[entry.event_date].origin
        moved = f"op = 'u' and not before.`{born}` <=> after.`{born}`"
        cases.append(f"when {moved} then array(named_struct('op', 'd', 'now', before), {here})")
    return f"case {' '.join(cases)} else array({here}) end"


def _said(origin: str, kind: str) -> str:
    """SQL: what the capture sent for a column. A long text that was not changed is not sent again:
    it is what it was before.
    """
    now, before = f"change.now.`{origin}`", f"before.`{origin}`"
    if kind not in ("string", "array<string>"):
        return now
    unsent = f"'{UNCHANGED}'" if kind == "string" else f"array('{UNCHANGED}')"
    return f"if({now} = {unsent}, {before}, {now})"


def cast(value: str, kind: str, wanted: str) -> str:
    """SQL: a value that the capture sent as one type, as another; NULL if it is none."""
    if kind == wanted:
        return value
    if (kind, wanted) == ("int", "date"):
        return f"date_from_unix_date({value})"
    if (kind, wanted) == ("bigint", "timestamp"):
        return f"timestamp_micros({value})"
    if (kind, wanted) == ("string", "timestamp"):  # of the years that every reader can hold
        return f"if(substr({value}, 5, 1) = '-', try_cast({value} as timestamp), null)"
    return f"try_cast({value} as {wanted})"


def _table(name: str, entry: Entry) -> LakeTable:
    origin = f"lakehouse_assets.raw.storefront_{name}"
    raw: LakeTable = vars(importlib.import_module(origin))[f"storefront_{name}"]
    row = dict(members(raw.contract.columns["after"].type))
    for column_, one in entry.columns.items():
        if one.origin not in row:
            raise one.wrong(f"{name}.{column_}: {raw.name} has no {one.origin}; has {[*row]}")

    def transform(changes: DataFrame) -> DataFrame:
        return rows(entry, row, changes)

    return table_asset(contract(name, entry), transform, changes=raw)


ENTRIES = entries(FILE)
TABLES = {name: _table(name, entry) for name, entry in ENTRIES.items()}
