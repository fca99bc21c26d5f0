"""A few rows to look at, of those that break a rule; what is private is masked."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.contract import Rule, Table
from lakehouse_assets.lake.quality import MASK

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXAMPLES = 5
MANY = 20_000  # failing rows that examples are chosen from, which bounds their sorting
Examples = dict[str, list[dict[str, Any]]]  # by the rule they break


def breaking(frame: "DataFrame", contract: type[Table], rules: list[Rule]) -> Examples:
    """Up to five rows for each rule, out of MANY that break one, in one pass; PII is masked."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    if not rules:
        return {}
    names = F.array(*[F.expr(f"if({rule.passes()}, null, '{rule.name}')") for rule in rules])
    hits = frame.withColumn("_broken", F.array_compact(names)).where("size(_broken) > 0")
    each = hits.limit(MANY).withColumn("_rule", F.explode("_broken"))
    place = F.row_number().over(Window.partitionBy("_rule").orderBy(*contract.key()))
    few = each.withColumn("_place", place).where(f"_place <= {EXAMPLES}")
    found: Examples = {rule.name: [] for rule in rules}
    told = F.to_json(F.struct(*_masked(contract.columns, contract))).alias("row")
    for row in few.select("_rule", told).collect():
        found[row["_rule"]].append(json.loads(row["row"]))
    return found


def shown(frame: "DataFrame", contract: type[Table], limit: int) -> list[dict[str, Any]]:
    """Some rows of a query about a table."""
    from pyspark.sql import functions as F

    rows = frame.select(F.to_json(F.struct(*_masked(frame.columns, contract))).alias("row"))
    return [json.loads(row["row"]) for row in rows.limit(limit).collect()]


def _masked(names: Iterable[str], contract: type[Table]) -> "list[Column]":
    """The columns of an example, those marked PII as dots wherever they hold something."""
    from pyspark.sql import functions as F

    pii, masked = contract.pii(), []
    for name in names:
        value = F.col(f"`{name}`")
        if name in pii:
            value = F.when(value.isNotNull(), F.lit(MASK))
        masked.append(value.alias(name))
    return masked
