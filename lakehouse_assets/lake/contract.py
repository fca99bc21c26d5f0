"""What a table is: its columns, key, rules, layout and scope. Pure data; nothing heavy is imported.

A contract is a class whose attributes are columns. Its module gives the table's name, so that
file, Iceberg table and asset key cannot differ. Rules come from the columns (null, set, range,
pattern) and from `rules` (SQL over one row).
"""

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Any, ClassVar

COMMIT = "_commit"  # the batch that last changed the row; on every table, filled by the engine
CHECKPOINT = "checkpoint_id"  # the attempt that published it; on raw tables that want it


@dataclass(frozen=True)
class Column:
    """One column: Spark's name of its type, a phrase about its meaning, and what must hold for its
    values. `name` is for names that Python cannot spell (`3ds_authenticated`), `field` for what a
    record calls it, if otherwise. `made`: of a raw table, no field of the record but this SQL over
    where it came from: topic, partition, offset, timestamp, ingest_hour, topic_generation,
    attempt.
    """

    type: str
    doc: str
    _: KW_ONLY
    key: bool = False
    nullable: bool = False
    ge: int | None = None
    le: int | None = None
    isin: tuple[str, ...] | None = None
    str_matches: str | None = None
    pii: bool = False
    name: str = ""
    field: str = ""
    made: str = ""


column = Column  # in a contract it reads as a declaration


@dataclass(frozen=True)
class Rule:
    """Something that must hold for a row: `sql` is true for a good one, or cannot judge: NULL."""

    name: str
    sql: str
    doc: str = ""
    threshold: float = 0.0  # rate at which rows may fail before the check does
    refuses: bool = True  # a table that refuses sets such a row aside; False: keeps and counts it

    def passes(self) -> str:
        return f"coalesce(({self.sql}), true)"


@dataclass(frozen=True)
class Across:
    """Something that must hold across rows or tables: `bad` is a query for what breaks it."""

    name: str
    bad: str
    doc: str
    threshold: float = 0.0  # rate at which there may be bad ones
    of: str = ""  # among which: "table where …"; else all rows of the table


@dataclass(frozen=True)
class Scope:
    """What news in a parent touches here. `at` is the timestamp by which parent and child skip
    files.

    kind `newest`: per key the greatest by `by`, then by content, wins; the row stored here
    stands for all earlier versions. kind `keys`: everything about the touched keys is computed
    again. kind `days`: the same for whole days of `at`, whose date is stored here as `on`. kind
    `all`: cannot prune; everything is computed again. kind `own`: the transform takes the news and
    its own rows (`here`), and gives the rows that should stand and those of its own in whose place;
    `_counts` says whether the news come on top of them, or are everything. kind `log`: rows that
    are added once and never changed: about the lake's own commits, or about what parents' rows
    became. A key's `at` must never change: by it both sides skip the rest of the table; without
    one, all of its keys are read.

    Rows that share the columns `together` are computed together, of parents' rows that share them
    too. What happens at an instant touches rows up to `reach` after it. `was`: what parents' rows
    were before touches rows too, if it is not told by the table's own.
    """

    kind: str
    at: str = ""
    by: tuple[str, ...] = ()
    on: str = ""
    together: tuple[str, ...] = ()
    reach: timedelta = timedelta(0)
    was: bool = False


def newest(*, by: str | tuple[str, ...], at: str = "") -> Scope:
    return Scope("newest", at=at, by=(by,) if isinstance(by, str) else by)


def recompute_keys(
    *, at: str = "", by: tuple[str, ...] = (), reach: timedelta = timedelta(0), was: bool = False
) -> Scope:
    return Scope("keys", at=at, together=by, reach=reach, was=was)


def recompute_days(*, at: str, on: str, was: bool = False) -> Scope:
    return Scope("days", at=at, on=on, was=was)


def recompute_all() -> Scope:
    return Scope("all")


def own_rows(*, at: str = "") -> Scope:
    return Scope("own", at=at)


def append_only() -> Scope:
    return Scope("log")


@dataclass(frozen=True)
class Layout:
    """How the rows lie in files, and which of them news upstream can touch."""

    # Columns, and "hours(…)", "days(…)", "months(…)" of such, with commas between them.
    partitioned_by: str = ""
    scope: Scope = Scope("all")
    unique_text: tuple[str, ...] = ()  # columns whose values seldom repeat: no dictionary is tried


class Table:
    """Base of every contract."""

    columns: ClassVar[dict[str, Column]] = {}
    layout: ClassVar[Layout] = Layout()
    rules: ClassVar[tuple[Rule, ...]] = ()
    across: ClassVar[tuple[Across, ...]] = ()
    name: ClassVar[str] = ""
    refuses: ClassVar[bool] = False  # rows that break a rule are set aside instead of stored
    # Each attempt to publish has a number, and is written down with its files before it is made.
    # The number stands in the rows if the table has a column CHECKPOINT.
    commit_log: ClassVar[bool] = False

    def __init_subclass__(cls, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {c.name or n: c for n, c in vars(cls).items() if isinstance(c, Column)}
        cls.name = name or ".".join(cls.__module__.split(".")[-2:])
        cls.columns = {**own, **{n: c for n, c in cls.columns.items() if n not in own}}

    @classmethod
    def key(cls) -> tuple[str, ...]:
        return tuple(n for n, c in cls.columns.items() if c.key)

    @classmethod
    def together(cls) -> tuple[str, ...]:
        """By what touched rows are found: the key, unless more of them are computed together."""
        return cls.layout.scope.together or cls.key()

    @classmethod
    def doc(cls) -> str:
        import sys

        return cls.__doc__ or sys.modules[cls.__module__].__doc__ or ""

    @classmethod
    def all_rules(cls) -> tuple[Rule, ...]:
        """The columns' rules in the columns' order, then the rows'."""
        return tuple(r for n, c in cls.columns.items() for r in column_rules(n, c)) + cls.rules

    @classmethod
    def pii(cls) -> tuple[str, ...]:
        return tuple(n for n, c in cls.columns.items() if c.pii)


def column_rules(name: str, c: Column) -> list[Rule]:
    """The rules a column's declaration states, each as SQL; NULL is judged by `nullable` alone."""
    quoted = f"`{name}`"
    rules = []
    if not c.nullable:
        rules.append(Rule(f"{name}_present", f"{quoted} is not null", "must not be NULL"))
    if c.isin is not None:
        values = ", ".join(f"'{escaped(v)}'" for v in c.isin)
        rules.append(Rule(f"{name}_known", f"{quoted} in ({values})", "one of a stated set"))
    if c.ge is not None:
        label = "not_negative" if c.ge == 0 else f"at_least_{_spelled(c.ge)}"
        rules.append(Rule(f"{name}_{label}", f"{quoted} >= {c.ge}", f"at least {c.ge}"))
    if c.le is not None:
        rules.append(
            Rule(f"{name}_at_most_{_spelled(c.le)}", f"{quoted} <= {c.le}", f"at most {c.le}")
        )
    if c.str_matches is not None:
        pattern = f"{quoted} rlike '{escaped(c.str_matches)}'"
        rules.append(Rule(f"{name}_well_formed", pattern, c.str_matches))
    return rules


def escaped(text: str) -> str:
    """Text as the inside of a SQL literal."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _spelled(bound: int) -> str:
    """A number as part of a check's name."""
    return f"minus_{-bound}" if bound < 0 else str(bound)
