"""What the shop's tables share: rows as they are now, and as they were, told from their changes.

Changes are put in the order of the database's own log, never by its clock. A reset (TRUNCATE, or a
snapshot) is a change without a key: all rows from before it are gone.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Across, Column, Table
from lakehouse_assets.lake.table import ALL
from lakehouse_assets.semantic.spans import spliced
from lakehouse_assets.staging.storefront import ENTRIES, READ_ANEW, RESETS, TABLES

Parents = dict[str, DataFrame]
IS_RESET = f"op in {RESETS}"


class Current(Table):
    """Base of the shop's tables as they are now: staging's columns, and since when it is so."""

    changed_at = Column("timestamp", "When the database committed the last change, UTC.")
    lsn = Column("bigint", "The change's place in the database's log.")

    def __init_subclass__(cls, of: str = "", **kwargs: Any) -> None:
        own = {n: Column(c.type, c.doc, key=c.key, nullable=c.nullable, pii=c.pii)
               for n, c in ENTRIES[of].columns.items()} if of else {}  # fmt: skip
        for name, one in own.items():
            setattr(cls, name, one)
        if of:
            cls.across = (_gone(of, [n for n, c in own.items() if c.key]),)
        super().__init_subclass__(**kwargs)


def _gone(name: str, keys: list[str]) -> Across:
    key, changes = ", ".join(keys), TABLES[name].name
    return Across(
        "deletions_are_gone",
        f"""select {key} from (
                select {key},
                    max_by(op, struct(lsn, order_in_transaction, op != 'd')) as op
                from {changes} where not {IS_RESET} group by {key})
            left semi join semantic.storefront_{name} using ({key}) where op = 'd'""",
        "what the shop has deleted is not here",
    )


def current(changes: DataFrame, contract: type[Table]) -> DataFrame:
    """The last change of each key, unless it deleted the row or a reset swept it away."""
    there = last_known(changes, contract).where("not is_deleted")
    return there.select(*[f"`{c}`" for c in contract.columns])


def last_known(changes: DataFrame, contract: type[Table]) -> DataFrame:
    """The last change of each key; `is_deleted`: it deleted the row, or a reset swept it away."""
    placed = _placed(changes, contract.key()).where(f"not {IS_RESET}")
    last = F.max_by(F.struct("*"), "place").alias("last")
    each = placed.groupBy(*contract.key()).agg(last).select("last.*")
    return each.withColumn("is_deleted", F.expr("op = 'd' or place < coalesce(swept, place)"))


def _placed(changes: DataFrame, keys: Iterable[str]) -> DataFrame:
    """With each change's `place`, and that of the last reset, `swept`. A place tells the newest
    snapshot that was before, then where in the log it is. What is streamed after a snapshot was
    committed after it, though it may stand before it in the log: its transaction was still open
    when the snapshot was taken.

    Resets are few and have no key, by which almost all files are skipped in looking for them.
    """
    keyless = " and ".join(f"`{key}` is null" for key in keys)
    resets = changes.where(f"{IS_RESET} and {keyless}").agg(
        F.collect_list(F.struct("op", "lsn", "arrived_at", "order_in_transaction")).alias("resets")
    )
    swept = f"array_max(transform(resets, it -> {_place('it.')}))"
    beside = changes.crossJoin(F.broadcast(resets.withColumn("swept", F.expr(swept))))
    return beside.withColumn("place", F.expr(_place(""))).drop("resets")


def _place(of: str) -> str:
    """SQL: the place of a change, among all `resets`."""
    read = f"{of}op in ('r', '{READ_ANEW}')"
    before = f"one.lsn < {of}lsn or if({read}, one.lsn = {of}lsn, one.arrived_at <= {of}arrived_at)"
    snapshots = f"filter(resets, one -> one.op = '{READ_ANEW}' and ({before}))"
    after = f"array_max(transform({snapshots}, one -> one.lsn))"
    return (
        f"struct(coalesce({after}, 0L) as after, not ({read} and {of}lsn <=> {after}) as is_after, "
        f"{of}lsn as lsn, coalesce({of}order_in_transaction, 0L) as number, "
        f"{of}op != 'd' as is_there)"
    )


def touched(contract: type[Table]) -> Callable[[str, DataFrame, Parents], DataFrame]:
    """Mentions: the changes' keys, and none, under which resets stand. A reset touches all rows."""
    at = contract.layout.scope.at
    names = [*contract.together(), *([at] if at else [])]
    none = ", ".join(f"cast(null as {contract.columns[n].type}) as {n}" for n in names)

    def mentions(_: str, news: DataFrame, __: Parents) -> DataFrame:
        each = f"explode(array(struct({', '.join(names)}), struct({none}))) as it"
        return news.selectExpr(each, f"{IS_RESET} as {ALL}").select("it.*", ALL)

    return mentions


def recorded(changes: DataFrame, contract: type[Table]) -> DataFrame:
    """A history's rows: what was so of each key from when until when; nothing of one deleted."""
    (key,) = contract.together()
    told = spliced(_versions(changes, key), key, at="since", tie="number")
    always = {key, "valid_from_at", "valid_to_at", "is_current", "is_deleted", "created_at"}
    return told.select(*[
        F.col(c) if c in always else F.when(~F.col("is_deleted"), F.col(c)).alias(c)
        for c in contract.columns
    ])  # fmt: skip


def _versions(changes: DataFrame, key: str) -> DataFrame:
    """Each change of a key, and each reset after which it was not there any more, with the instant
    `since` when it is so and its `place`.

    The first of a key is taken to have been so since the row was made, because what it was before
    somebody looked nobody can tell. A clock that goes back stands still.
    """
    placed = _placed(changes, [key])
    rows = placed.where(f"not {IS_RESET}").withColumn("is_deleted", F.col("op") == "d")
    resets = placed.where(IS_RESET).select("op", "lsn", "place", "changed_at")
    known = rows.groupBy(key).agg(
        F.min("place").alias("first"), F.min("created_at").alias("created_at")
    )
    in_it = rows.where("op = 'r'").select(key, "lsn", F.lit(READ_ANEW).alias("op"))
    swept = (
        known.crossJoin(F.broadcast(resets)).where("first < place")
        .join(in_it, [key, "lsn", "op"], how="left_anti")
        .select(key, "created_at", "place", "changed_at", F.lit(True).alias("is_deleted"))
    )  # fmt: skip
    in_log = Window.partitionBy(key).orderBy("place")
    told = rows.unionByName(swept, allowMissingColumns=True).withColumns({
        "number": F.row_number().over(in_log),
        "was_deleted": F.lag("is_deleted").over(in_log),
        "since": F.max("changed_at").over(in_log),
    })  # fmt: skip
    began = F.expr("if(number = 1, least(since, created_at), since)")
    return told.withColumn("since", began).where("not (is_deleted and coalesce(was_deleted, true))")
