"""What a transform made: checked, accepted row by row, the winning versions, the differences."""

from typing import TYPE_CHECKING

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lakehouse_assets.lake.watch import Watch

# Versions of code that made the contract's columns: to ask once more takes an analysis of all.
checked: set[str] = set()
ARRIVED = "arrived_at"  # of two deliveries with the same content the first to arrive stands


def refusals(table: LakeTable, raw: "DataFrame") -> "DataFrame":
    """The rows a refusing table's transform makes of its parent's that break a rule, and which."""
    from pyspark.sql import functions as F

    judged = _judged(table.contract, transformed(table, {next(iter(table.parents)): raw}))
    reason = F.expr(quality.reasons(table.contract.all_rules(), "_broken"))
    return judged.withColumn("reason", reason).where(f"not {_good(table.contract)}")


def good(table: LakeTable, raw: "DataFrame") -> "DataFrame":
    """All the rows that a refusing table's transform makes and accepts, not only the winners."""
    arg = next(iter(table.parents))
    return accept(table, transformed(table, {arg: raw}), watch=False)[0]


def _good(contract: type[Table]) -> str:
    """SQL: the row breaks no rule that would set it aside."""
    return f"((_broken & {quality.refusing(contract.all_rules())}L) = 0L)"


def _judged(contract: type[Table], staged: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    return staged.withColumn("_broken", F.expr(quality.failures(contract.all_rules())))


def transformed(table: LakeTable, frames: "dict[str, DataFrame]") -> "DataFrame":
    return instead(table, frames)[0]


def instead(table: LakeTable, frames: "dict[str, DataFrame]") -> "tuple[DataFrame, DataFrame]":
    """What the transform makes; and of a table of kind `own` the rows in whose place."""
    if table.transform is None:
        raise TypeError(f"{table.name} has no transform")
    made = table.transform(**frames)
    made, old = made if isinstance(made, tuple) else (made, made)
    if (code := table.code_version()) not in checked:
        _same_columns(table.contract, made)
        checked.add(code)
    return made.select(*[f"`{c}`" for c in table.contract.columns]), old


def made(table: LakeTable, frames: "dict[str, DataFrame]") -> "tuple[DataFrame, Watch | None]":
    accepted, seen = accept(table, transformed(table, frames))
    newest = table.contract.layout.scope.kind == "newest"
    return (winners(table.contract, accepted) if newest else accepted), seen


def accept(
    table: LakeTable, staged: "DataFrame", watch: bool = True
) -> "tuple[DataFrame, Watch | None]":
    """A table that refuses keeps the rows that break no rule, and counts the others."""
    from lakehouse_assets.lake.watch import Watch

    if not table.contract.refuses:
        return staged, None
    judged, seen = _judged(table.contract, staged), None
    if watch:
        seen = Watch()
        judged = seen.over(judged, *_refusals(table.contract))
    return judged.where(_good(table.contract)).drop("_broken"), seen


def count_refused(table: LakeTable, staged: "DataFrame") -> dict[str, int]:
    """What `accept` would have watched, as a query of its own; nothing for a table that refuses
    nothing.
    """
    if not table.contract.refuses:
        return {}
    row = _judged(table.contract, staged).agg(*_refusals(table.contract)).first()
    return {k: int(v or 0) for k, v in row.asDict().items()} if row else {}


def _refusals(contract: type[Table]) -> "list[Column]":
    from pyspark.sql import functions as F

    return [
        F.count(F.lit(1)).alias("read"),
        F.expr(f"count_if(not {_good(contract)})").alias("refused"),
        *quality.counts(contract.all_rules(), "_broken"),
    ]


def standing(contract: type[Table]) -> "Column":
    """What decides between versions: `by`, then all content, then who came first. It is the row."""
    from pyspark.sql import functions as F

    by = contract.layout.scope.by
    others = [c for c in contract.columns if c not in (*by, ARRIVED, *contract.key())]
    content = [F.col(f"`{c}`") for c in others if not c.startswith("_")]
    noted = [F.col(c) for c in others if c.startswith("_")]
    first = (
        [F.expr(f"-unix_micros({ARRIVED})").alias(ARRIVED)] if ARRIVED in contract.columns else []
    )
    return F.struct(*by, *content, *first, *noted)


def unpacked(contract: type[Table], frame: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    columns = {
        c: F.expr(f"timestamp_micros(-_best.{ARRIVED})") if c == ARRIVED else F.col(f"_best.`{c}`")
        for c in contract.columns
        if c not in contract.key()
    }
    return frame.withColumns(columns)


def winners(contract: type[Table], versions: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    best = versions.groupBy(*contract.key()).agg(F.max(standing(contract)).alias("_best"))
    return unpacked(contract, best).select(*[f"`{c}`" for c in contract.columns])


def overtaking(contract: type[Table], accepted: "DataFrame", stored: "DataFrame") -> "DataFrame":
    """The best of the accepted versions of each key, where it beats the stored row."""
    from pyspark.sql import functions as F

    keys, mask = contract.key(), F.expr(quality.failures(contract.all_rules()))
    best = accepted.groupBy(*keys).agg(F.max(standing(contract)).alias("_best"))
    old = stored.select(
        *[F.col(k).alias(f"_o{i}") for i, k in enumerate(keys)],
        standing(contract).alias("_stands"), mask.alias("_old"),
    )  # fmt: skip
    same = [F.col(k).eqNullSafe(F.col(f"_o{i}")) for i, k in enumerate(keys)]
    joined = best.join(old, same, how="left").where("_stands is null or _best > _stands")
    return unpacked(contract, joined).withColumns({
        "_op": F.expr("if(_stands is null, 'I', 'U')"),
        "_new": mask, "_old": F.expr("coalesce(_old, 0L)"), "_copies": F.lit(1),
    })  # fmt: skip


def with_copies(contract: type[Table], made: "DataFrame") -> "DataFrame":
    """Each row with how many share its key; winners have been made one by their grouping."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    if contract.layout.scope.kind == "newest":
        return made.withColumn("_copies", F.lit(1))
    same_key = Window.partitionBy(*contract.key())
    return made.withColumn("_copies", F.count(F.lit(1)).over(same_key))


def only(frame: "DataFrame", keys: "DataFrame", names: tuple[str, ...]) -> "DataFrame":
    """The rows that share these columns with one of the keys."""
    from pyspark.sql import functions as F

    named = keys.select(*[F.col(k).alias(f"_k{i}") for i, k in enumerate(names)])
    same = [F.col(k).eqNullSafe(F.col(f"_k{i}")) for i, k in enumerate(names)]
    return frame.join(named, same, how="left_semi")


def differences(contract: type[Table], made: "DataFrame", old: "DataFrame") -> "DataFrame":
    """Rows to insert, update and delete: a full join by key that drops what is equal."""
    from pyspark.sql import functions as F

    content = [c for c in contract.columns if not c.startswith("_")]
    mask = F.expr(quality.failures(contract.all_rules()))
    whole_row = F.struct(*[F.col(f"`{c}`") for c in contract.columns])
    keys = contract.key()
    new = with_copies(contract, made).select(
        *[F.col(k).alias(f"_n{i}") for i, k in enumerate(keys)],
        whole_row.alias("_row"), mask.alias("_new"), "_copies",
    )  # fmt: skip
    was = old.select(
        *[F.col(k).alias(f"_o{i}") for i, k in enumerate(keys)],
        whole_row.alias("_was"), mask.alias("_old"),
    )  # fmt: skip
    same = [F.col(f"_n{i}").eqNullSafe(F.col(f"_o{i}")) for i in range(len(keys))]
    joined = new.join(was, same, how="full")
    equal = " and ".join(f"_row.`{c}` <=> _was.`{c}`" for c in content)
    differs = f"when not ({equal}) then 'U'"
    op = f"case when _was is null then 'I' when _row is null then 'D' {differs} end"
    changed = joined.withColumn("_op", F.expr(op)).where("_op is not null")
    return changed.select(
        *[F.expr(f"coalesce(_row.`{c}`, _was.`{c}`)" if c in keys else f"_row.`{c}`").alias(c)
          for c in contract.columns],
        "_op", F.expr("coalesce(_new, 0L)").alias("_new"),
        F.expr("coalesce(_old, 0L)").alias("_old"),
        F.expr("coalesce(_copies, 1L)").alias("_copies"),
    )  # fmt: skip


def _same_columns(contract: type[Table], made: "DataFrame") -> None:
    """The schema check before any write: names and types as declared."""
    found = {f.name: f.dataType.simpleString() for f in made.schema.fields}
    for name, column in contract.columns.items():
        wanted = column.type.replace(" ", "")
        if name not in found:
            raise TypeError(
                f"{contract.name}: the transform gives no column {name}; has {list(found)}"
            )
        if found[name] != wanted:
            raise TypeError(
                f"{contract.name}: {name} is {found[name]}, the contract says {wanted}; "
                "cast it in the transform"
            )
