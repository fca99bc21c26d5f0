"""Looking at a table as it stands: every rule in one scan, repeated keys, examples."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from lakehouse_assets.lake import quality, versions
from lakehouse_assets.lake.catalog import NoTable
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.quality import Verdict
from lakehouse_assets.lake.scope import iso
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.examples import Examples, breaking

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = 100_000  # rows that are looked through after a write whose own rows have no example


@dataclass
class Report:
    rows: int
    repeated_keys: int
    verdicts: list[Verdict]
    examples: Examples = field(default_factory=dict)
    head: Head | None = None


def audit(lake: Lake, table: LakeTable, hours: list[datetime]) -> Report:
    from pyspark.sql import functions as F

    rules = table.contract.all_rules()
    try:
        head = lake.catalog.head(table.name)
    except NoTable:
        return Report(0, 0, [Verdict(r, 0, 0) for r in rules])
    lake.compile(News(lake, table, head).is_large)
    judged = _judged(lake, table, head, hours)
    row = judged.agg(F.count(F.lit(1)).alias("rows"), *quality.broken(rules)).first()
    counted = row.asDict() if row else {"rows": 0}
    keys = _rows(lake, table, head, hours).groupBy(*table.contract.key()).count()
    repeated = keys.where("count > 1").count()
    found = [Verdict(r, int(counted[r.name]), counted["rows"]) for r in rules]
    failing = [v.rule for v in found if not v.passed]
    shown = breaking(judged, table.contract, failing)
    return Report(counted["rows"], repeated, found, shown, head)


def examples(
    lake: Lake, table: LakeTable, hours: list[datetime], before: Head, failing: list[Verdict]
) -> Examples:
    """Rows that fail, of those that came after `before`; if none does, and few rows, of all."""
    head, rules = lake.catalog.head(table.name), [v.rule for v in failing]
    lake.compile(News(lake, table, head).is_large)
    with lake.phase("examples"):
        found = breaking(_judged(lake, table, head, hours, before), table.contract, rules)
        if older := [v.rule for v in failing if not found[v.rule.name] and v.rows <= FEW]:
            found |= breaking(_judged(lake, table, head, hours), table.contract, older)
    return found


def _judged(
    lake: Lake, table: LakeTable, head: Head, hours: list[datetime], before: Head | None = None
) -> "DataFrame":
    """What the rules are about: stored rows, or what a refusing table's transform was given."""
    if not table.contract.refuses:
        rows = _rows(lake, table, head, hours)
        return rows.where(f"{COMMIT} > {before.stamp.commit}") if before else rows
    frames = {}
    for arg, parent in table.parents.items():
        pin = lake.catalog.head(parent.name)
        read = before.stamp.progress.get(parent.name, [0])[0] if before else 0
        is_news = 0 < read < pin.stamp.commit  # else the hour was made anew from what was there
        rows = _of_hours(lake.at(pin), hours)
        frames[arg] = rows.where(f"{COMMIT} > {read}") if is_news else rows
    return versions.transformed(table, frames)


def _rows(lake: Lake, table: LakeTable, head: Head, hours: list[datetime]) -> "DataFrame":
    return _of_hours(lake.at(head), hours if table.topic else [])


def _of_hours(rows: "DataFrame", hours: list[datetime]) -> "DataFrame":
    return rows.where(" or ".join(f"ingest_hour = timestamp'{iso(h)}'" for h in hours) or "true")
