"""A contract as an Iceberg table: schema, partitioning, properties; and how a living table follows
its contract.
"""

import re
from collections.abc import Iterator
from itertools import count

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table as IcebergTable
from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

from lakehouse_assets.lake.contract import COMMIT, Column, RawTable, Table

PRIMITIVES: dict[str, type[IcebergType]] = {
    "string": StringType,
    "int": IntegerType,
    "bigint": LongType,
    "double": DoubleType,
    "boolean": BooleanType,
    "date": DateType,
    "timestamp": TimestamptzType,
    "binary": BinaryType,
}
TRANSFORMS = {"days": DayTransform, "hours": HourTransform}


class SchemaRefused(Exception):
    """The table's data cannot follow the contract without loss."""


def all_columns(contract: type[Table]) -> dict[str, Column]:
    """The contract's columns and the engine's own."""
    commit = Column("bigint", "The published batch that last changed the row.")
    return {**contract.columns, COMMIT: commit}


def iceberg_schema(contract: type[Table]) -> Schema:
    ids, fields = count(1), []
    for name, column in all_columns(contract).items():
        number = next(ids)
        kind = iceberg_type(column.type, ids)
        fields.append(NestedField(number, name, kind, required=False, doc=column.doc))
    return Schema(*fields)


def iceberg_type(text: str, ids: Iterator[int] | None = None) -> IcebergType:
    """Spark's spelling of a type (`decimal(10,2)`, `struct<a:string>`) as Iceberg's."""
    ids = ids or count(1)
    text = text.strip()
    if text in PRIMITIVES:
        return PRIMITIVES[text]()
    if match := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", text):
        return DecimalType(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"array<(.*)>", text):
        return ListType(next(ids), iceberg_type(match[1], ids), element_required=False)
    if text.startswith("struct<"):
        numbered = [(next(ids), name, kind) for name, kind in members(text)]
        return StructType(
            *(NestedField(n, name, iceberg_type(k, ids), required=False) for n, name, k in numbered)
        )
    raise SchemaRefused(
        f"type {text!r} is not known; known: {', '.join(PRIMITIVES)}, decimal, struct, array"
    )


def split_fields(text: str) -> list[str]:
    """Split at the commas that are not inside brackets, which may be two deep."""
    return re.findall(r"(?:[^,<(]|<(?:[^<>]|<[^>]*>)*>|\([^)]*\))+", text)


def members(text: str) -> list[tuple[str, str]]:
    """A struct's members, names and types, from Spark's spelling of it."""
    parts = split_fields(text.strip().removeprefix("struct<").removesuffix(">"))
    return [(n.strip(), k.strip()) for n, k in (part.split(":", 1) for part in parts)]


def partition_spec(contract: type[Table], schema: Schema) -> PartitionSpec:
    text = contract.layout.partitioned_by
    if not text:
        return PartitionSpec()
    match = re.fullmatch(r"(days|hours)\((\w+)\)", text)
    column, transform = (match[2], TRANSFORMS[match[1]]()) if match else (text, IdentityTransform())
    name = f"{column}_{match[1].removesuffix('s')}" if match else column
    return PartitionSpec(PartitionField(schema.find_field(column).field_id, 1000, transform, name))


def properties(contract: type[Table]) -> dict[str, str]:
    """Merge-on-read, light Parquet, and bounds only on the columns by which files are skipped."""
    skipped_by = {COMMIT, contract.layout.scope.at, contract.layout.scope.on}
    skipped_by |= set(re.findall(r"\w+", contract.layout.partitioned_by)) & set(contract.columns)
    if "kafka_offset" in contract.columns:  # raw: an event's own time skips files too
        skipped_by |= {n for n, c in contract.columns.items() if c.type == "timestamp"}
    modes = {f"write.{verb}.mode": "merge-on-read" for verb in ("merge", "delete", "update")}
    spread = {f"write.{verb}distribution-mode": "none" for verb in ("", "merge.", "delete.")}
    return {
        "format-version": "2",
        **modes,
        **spread,
        "write.parquet.compression-codec": "zstd",
        "write.parquet.compression-level": "1",
        "write.parquet.row-group-check-min-record-count": "10000",
        "write.parquet.row-group-check-max-record-count": "100000",
        "write.metadata.metrics.default": "counts",
        **{f"write.metadata.metrics.column.{c}": "full" for c in sorted(skipped_by) if c},
        **{
            f"write.parquet.dict-encoding-enabled.column.{c}": "false"
            for c in contract.layout.unique_text
        },
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "20",
        "commit.retry.num-retries": "10",
    }


def evolve(table: IcebergTable, contract: type[Table]) -> None:
    """Add the contract's new columns, widen what can be widened; refuse anything else."""
    present = {f.name: f for f in table.schema().fields}
    wanted = {f.name: f for f in iceberg_schema(contract).fields}
    new = [f for name, f in wanted.items() if name not in present]
    changed = [
        f
        for name, f in wanted.items()
        if name in present and _shape(f.field_type) != _shape(present[name].field_type)
    ]
    gone = sorted(set(present) - set(wanted))
    if partition_spec(contract, table.schema()).fields != table.spec().fields:
        now = contract.layout.partitioned_by or "nothing"
        raise _refused(contract, f"it is partitioned by {table.spec()}, the contract says {now}")
    strict = [f.name for f in new if not all_columns(contract)[f.name].nullable]
    if strict and not issubclass(contract, RawTable):
        raise _refused(contract, f"new column {strict[0]} must not be NULL, but old rows have none")
    if gone:
        raise _refused(contract, f"column {gone[0]} is in the table but not in the contract")
    for f in changed:
        if not _widens(present[f.name].field_type, f.field_type):
            old = present[f.name].field_type
            raise _refused(contract, f"column {f.name} is {old}, the contract says {f.field_type}")
    if new or changed:
        with table.update_schema() as update:
            for f in new:
                update.add_column(f.name, f.field_type, doc=f.doc)
            for f in changed:
                update.update_column(f.name, field_type=f.field_type)


def _shape(kind: IcebergType) -> str:
    """A type without its field ids."""
    return re.sub(r"\d+: ", "", str(kind))


def _widens(old: IcebergType, new: IcebergType) -> bool:
    if isinstance(old, IntegerType) and isinstance(new, LongType):
        return True
    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return old.scale == new.scale and old.precision <= new.precision
    return False


def _refused(contract: type[Table], what: str) -> SchemaRefused:
    return SchemaRefused(
        f"{contract.name}: {what}. New nullable columns and wider types are applied by themselves; "
        f"for anything else drop the table and make it again: "
        f"`lakehouse drop {contract.name}`, then materialize it "
        "(raw: while Kafka still has the records)"
    )
