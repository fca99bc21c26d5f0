"""A contract as a pandera schema: the second opinion on our rules, in tests and benches.

pandera asks Spark once a rule, so it is never on the way of a write.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from lakehouse_assets.lake.contract import Column, Rule, Table, column_rules

if TYPE_CHECKING:
    from pandera.pyspark import Check, DataFrameSchema
    from pyspark.sql import DataFrame

END = r"(?![\s\S])"  # `\z` for Python too: pandera compiles a pattern before Spark gets it


def to_pandera(contract: type[Table]) -> "DataFrameSchema":
    """The same columns, and the same rules under the same names."""
    import pandera.pyspark as pa
    from pyspark.sql.types import DataType

    columns: dict[str, Any] = {
        name: pa.Column(cast(Any, DataType.fromDDL(c.type)), _checks(name, c), nullable=c.nullable)
        for name, c in contract.columns.items()
    }
    return pa.DataFrameSchema(columns, checks=[_row_check(rule) for rule in contract.rules])


def broken(contract: type[Table], frame: "DataFrame") -> set[str]:
    """The names of the rules that pandera finds broken by some row."""
    judged = cast(Any, to_pandera(contract).validate(frame))
    report: dict[str, Any] = judged.pandera.errors
    data, schema = report.get("DATA", {}), report.get("SCHEMA", {})
    unjudged = {**data, **schema}.keys() - {"DATAFRAME_CHECK", "SERIES_CONTAINS_NULLS"}
    if unjudged:
        raise ValueError(f"{contract.name}: pandera could not judge {sorted(unjudged)}: {report}")
    nulls = {f"{e['column']}_present" for e in schema.get("SERIES_CONTAINS_NULLS", [])}
    return nulls | {e["check"] for e in data.get("DATAFRAME_CHECK", [])}


def _checks(name: str, c: Column) -> "list[Check]":
    from pandera.pyspark import Check

    names = iter([r.name for r in column_rules(name, c) if r.name != f"{name}_present"])
    stated: list[tuple[Callable[..., Check], Any]] = [
        (Check.isin, c.isin),
        (Check.ge, c.ge),
        (Check.le, c.le),
        (Check.str_matches, c.str_matches and c.str_matches.replace(r"\z", END)),
    ]
    return [make(value, error=next(names)) for make, value in stated if value is not None]


def _row_check(rule: Rule) -> "Check":
    from pandera.pyspark import Check

    def holds(frame: "DataFrame") -> bool:
        return not frame.where(f"not ({rule.sql})").limit(1).count()

    return Check(holds, name=rule.name, error=rule.name)
