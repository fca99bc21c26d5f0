"""A contract as an Iceberg table: schema, partitioning, properties; and how a living table follows
its contract.
"""

import re
from collections.abc import Iterator
from itertools import count, pairwise

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.update.schema import UpdateSchema
from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform
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

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import COMMIT, Column, Table

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
TRANSFORMS = {"months": MonthTransform, "days": DayTransform, "hours": HourTransform}


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
    fields = []
    for number, text in enumerate(re.findall(r"[^,\s]+", contract.layout.partitioned_by), 1000):
        match = re.fullmatch(r"(months|days|hours)\((\w+)\)", text)
        column = match[2] if match else text
        transform = TRANSFORMS[match[1]]() if match else IdentityTransform()
        name = f"{column}_{match[1].removesuffix('s')}" if match else column
        source = schema.find_field(column).field_id
        fields.append(PartitionField(source, number, transform, name))
    return PartitionSpec(*fields)


def properties(contract: type[Table]) -> dict[str, str]:
    """Merge-on-read, light Parquet, and bounds only on the columns by which files are skipped."""
    skipped_by = {COMMIT, contract.layout.scope.at, contract.layout.scope.on}
    skipped_by |= set(re.findall(r"\w+", contract.layout.partitioned_by)) & set(contract.columns)
    if "kafka_offset" in contract.columns:  # raw: an event's own time skips files too
        told = {n: c.type for n, c in contract.columns.items() if n[0] != "_"}
        skipped_by |= {n for n, kind in told.items() if kind == "timestamp"}
    modes = {f"write.{verb}.mode": "merge-on-read" for verb in ("merge", "delete", "update")}
    # Two tasks that delete from one file would each repeat its older deletes, and count them twice.
    spread = {"write.distribution-mode": "none", "write.merge.distribution-mode": "hash"}
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
    """Add the contract's new columns and objects' new members, widen what can be widened; refuse
    anything else.
    """
    present, wanted = table.schema().as_struct(), iceberg_schema(contract).as_struct()
    settled = {k: v for k, v in properties(contract).items() if k != "format-version"}
    if not settled.items() <= table.properties.items():
        with table.transaction() as tx:
            tx.set_properties(settled)
        table.refresh()
    if partition_spec(contract, table.schema()).fields != table.spec().fields:
        now = contract.layout.partitioned_by or "nothing"
        raise _refused(contract, f"it is partitioned by {table.spec()}, the contract says {now}")
    if _shape(present) == _shape(wanted):
        return
    new = [n for n in all_columns(contract) if n not in _parts(present)]
    strict = [n for n in new if not all_columns(contract)[n].nullable]
    if strict and not issubclass(contract, RawTable):
        raise _refused(contract, f"new column {strict[0]} must not be NULL, but old rows have none")
    with table.update_schema() as update:
        _follow(update, contract, present, wanted)


def _follow(
    update: UpdateSchema, contract: type[Table], old: IcebergType, new: IcebergType, *path: str
) -> None:
    """Bring what lies at this path, a table's row or a part of it, to its new type."""
    olds, news = _parts(old), _parts(new)
    if old == new:
        return
    if not olds or type(old) is not type(new):
        if not _widens(old, new):
            raise _refused(contract, f"column {'.'.join(path)} is {old}, the contract says {new}")
        update.update_column(path, field_type=new)
        return
    for name in sorted(set(olds) - set(news)):
        what = f"column {'.'.join([*path, name])} is in the table but not in the contract"
        raise _refused(contract, what)
    for name, part in news.items():
        if name in olds:
            _follow(update, contract, olds[name].field_type, part.field_type, *path, name)
        else:
            update.add_column((*path, name), part.field_type, doc=part.doc)
    if path and list(news) != list(olds):  # objects are compared member by member, in their order
        for before, name in pairwise(news):
            update.move_after((*path, name), (*path, before))


def _shape(kind: IcebergType) -> str:
    """A type without its field ids."""
    return re.sub(r"\d+: ", "", str(kind))


def _parts(kind: IcebergType) -> dict[str, NestedField]:
    """An object's members by name, a list's element; nothing for a value."""
    if isinstance(kind, ListType):
        return {"element": kind.element_field}
    return {f.name: f for f in kind.fields} if isinstance(kind, StructType) else {}


def _widens(old: IcebergType, new: IcebergType) -> bool:
    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return old.scale == new.scale and old.precision <= new.precision
    return isinstance(old, IntegerType) and isinstance(new, LongType)


def _refused(contract: type[Table], what: str) -> SchemaRefused:
    return SchemaRefused(
        f"{contract.name}: {what}. New nullable columns and members and wider types are applied by "
        "themselves; for anything else drop the table and make it again: `lakehouse drop "
        f"{contract.name}`, then materialize it (raw: while Kafka still has the records)"
    )
