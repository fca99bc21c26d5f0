"""By what a table's row finds the rows of a parent that it was made of.

A staging row names its record. Else the transform's plan tells which columns are the parent's own
values: a parent's key among them leads to one row; the table's own key leads to the rows that share
it, as the engine's scopes do. Where no column is a parent's own there is no way, and that is said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.lineage.columns import Columns, columns
from lakehouse_assets.lineage.plan import NotUnderstood

RECORD = ("topic_generation", "kafka_partition", "kafka_offset")


@dataclass(frozen=True)
class Pair:
    """A column here, its type, and SQL over a row of the parent that must be equal to it."""

    here: str
    kind: str
    there: str


@dataclass(frozen=True)
class Link:
    """`prune`: a column here, and the parent's with the same values, by which files are skipped.
    `only`: of a column the values that rows made of this parent have; others are not made of it.
    """

    pairs: tuple[Pair, ...]
    how: str
    is_exact: bool  # it leads to the very rows; else they are among those found
    prune: tuple[str, str] | None = None
    only: tuple[tuple[str, frozenset[str | None]], ...] = ()


@dataclass(frozen=True)
class NoLink:
    """The trail ends, for this reason."""

    why: str


def link(lake: Lake, table: LakeTable, parent: LakeTable) -> Link | NoLink:
    if parent.topic and "_record" in table.contract.columns:
        kinds = dict(members(table.contract.columns["_record"].type))
        pairs = tuple(Pair(f"_record.{c}", kinds[c], c) for c in RECORD)
        hour = ("_record.ingest_hour", "ingest_hour")
        return Link(pairs, "the record it was made of", True, hour)
    try:
        made_of = columns(lake, table)
    except NotUnderstood as error:
        return NoLink(f"what its columns are made of cannot be told: {error}")
    found = _by_columns(table, parent, _own_values(table, parent, made_of))
    only = tuple(_literals(table, parent, made_of))
    return found if isinstance(found, NoLink) else replace(found, only=only)


def _literals(
    table: LakeTable, parent: LakeTable, made_of: Columns
) -> Iterator[tuple[str, frozenset[str | None]]]:
    """Columns that bear only literals in rows made of this parent, and which."""
    for name, sources in made_of.items():
        theirs = [source for source in sources if source.frame == parent.name]
        is_text = table.contract.columns[name].type == "string"
        if theirs and is_text and all(source.literal for source in theirs):
            yield name, frozenset(_said(source.literal) for source in theirs)


def _said(literal: str) -> str | None:
    is_nothing = literal.lower() == "null" or literal.lower().startswith("cast(null as")
    return None if is_nothing else literal


def _own_values(table: LakeTable, parent: LakeTable, made_of: Columns) -> dict[str, str]:
    """Of the parent's columns whose values stand here as they are, under which names."""
    found: dict[str, str] = {}
    for name, sources in made_of.items():
        for source in sources:
            ours = source.frame == parent.name and source.is_same and name[0] != "_"
            if ours and (source.column not in found or name == source.column):
                found[source.column] = name
    kinds = {c: table.contract.columns[n].type for c, n in found.items()}
    return {c: n for c, n in found.items() if "<" not in kinds[c]}


def _by_columns(table: LakeTable, parent: LakeTable, here: dict[str, str]) -> Link | NoLink:
    rule, ours, theirs = table.contract.layout.scope, table.contract.key(), parent.contract.key()
    at = rule.at if here.get(rule.at) == rule.at else ""
    prune = (at, at) if at else None

    def paired(every: dict[str, str]) -> tuple[Pair, ...]:
        return tuple(Pair(n, table.contract.columns[n].type, sql) for n, sql in every.items())

    if {*theirs} <= here.keys():
        how = f"the row that it names by {_and(here[c] for c in theirs)}"
        if rule.together and not {*rule.together} <= {*ours}:
            how += f"; computed together with those of the same {_and(rule.together)}"
        return Link(paired({here[c]: c for c in theirs}), how, True, prune)
    wanted = {*ours, *rule.together}
    pairs = {name: column for column, name in here.items() if name in wanted}
    told = [*pairs]
    days = dict[str, str]()
    if rule.on and rule.at in parent.contract.columns:
        days = {rule.on: f"to_date({rule.at})"}
        told = [rule.on, *told]
    if pairs or days:
        every = {**days, **pairs}
        is_exact = any(names and {*names} <= every.keys() for names in (ours, rule.together))
        how = f"{'all rows' if is_exact else 'among those'} of the same {_and(told)}"
        return Link(paired(every), how, is_exact, prune)
    if shared := {c: n for c, n in here.items() if c in theirs or c.endswith("_id")}:
        names = _and(shared.values())
        pairs_by_id = paired({n: c for c, n in shared.items()})
        return Link(pairs_by_id, f"among those of its {names}", False)
    return NoLink(f"no column here has values of {parent.name} by which its rows could be found")


def _and(names: Iterable[str]) -> str:
    return ", ".join(names)
