"""From a contract to an Iceberg table, and how a living table follows a contract that changed."""

import re
from decimal import Decimal
from typing import Any

import pytest
from pyiceberg.types import DecimalType, LongType, StringType

from lakehouse_assets.lake.contract import Layout, Table, column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.schema import (
    SchemaRefused,
    iceberg_schema,
    iceberg_type,
    partition_spec,
    properties,
    split_fields,
)
from lakehouse_assets.lake.spark import fetched
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import DAY, Latest, add
from lakehouse_assets_tests.topics.records import Notes


def columns(lake: Lake) -> dict[str, str]:
    return {f.name: str(f.field_type) for f in lake.catalog.load("bare.latest").schema().fields}


def changed(**more: Any) -> type[Table]:
    """The contract of bare.latest with other columns beside or instead of its own."""
    return type("Changed", (Latest,), more, name="bare.latest")


def test_types_are_sparks_spelling() -> None:
    assert str(iceberg_type("decimal(10, 2)")) == "decimal(10, 2)"
    assert str(iceberg_type("array<int>")).startswith("list<int")
    nested = str(iceberg_type("struct<a:string,b:struct<c:int,d:decimal(4,1)>>"))
    assert nested.count("struct<") == 2 and "decimal(4, 1)" in nested
    assert split_fields("a:string,b:struct<c:int,d:int>,e:decimal(1,0)") == [
        "a:string", "b:struct<c:int,d:int>", "e:decimal(1,0)",
    ]  # fmt: skip
    with pytest.raises(SchemaRefused, match="type 'varchar' is not known"):
        iceberg_type("varchar")


def test_every_column_has_its_comment_and_none_is_required() -> None:
    fields = iceberg_schema(Latest).fields
    assert [f.name for f in fields] == ["id", "at", "version", "amount", "arrived_at", "_commit"]
    assert all(f.doc for f in fields) and not any(f.required for f in fields)


def test_partitioning_is_by_value_by_day_or_by_hour() -> None:
    def spec(text: str) -> str:
        contract = type("T", (Latest,), {"layout": Layout(partitioned_by=text)}, name="bare.t")
        return str(partition_spec(contract, iceberg_schema(contract)))

    assert "at_day: day(2)" in spec("days(at)")
    assert "at_hour: hour(2)" in spec("hours(at)")
    assert "id: identity(1)" in spec("id")
    assert "[]" in spec("") or spec("") == "[\n]"


def test_bounds_are_kept_only_where_files_are_skipped_by_them() -> None:
    full = {k.rsplit(".", 1)[1] for k, v in properties(Notes).items() if v == "full"}
    assert full == {"_commit", "made_at", "arrived_at", "ingest_hour"}
    assert properties(Latest)["write.metadata.metrics.default"] == "counts"


def test_a_new_nullable_column_is_added(lake: Lake) -> None:
    lake.catalog.ensure(Latest)
    lake.catalog.ensure(changed(colour=column("string", "Which.", nullable=True)))
    assert columns(lake)["colour"] == "string"
    field = lake.catalog.load("bare.latest").schema().find_field("colour")
    assert isinstance(field.field_type, StringType) and field.doc == "Which."


def test_a_wider_type_is_applied(lake: Lake) -> None:
    class Priced(Latest, name="bare.latest"):
        """bare.latest: one row per id."""

        price = column("decimal(6,2)", "Price.", nullable=True)

    lake.catalog.ensure(Priced)
    wider = {"amount": column("bigint", "x"), "price": column("decimal(20,2)", "x", nullable=True)}
    lake.catalog.ensure(changed(**wider))
    found = lake.catalog.load("bare.latest").schema()
    assert isinstance(found.find_field("amount").field_type, LongType)
    assert found.find_field("price").field_type == DecimalType(20, 2)


@pytest.mark.parametrize("kind", ["string", "decimal(10,2)", "date"])
def test_another_type_is_refused_with_the_way_out(lake: Lake, kind: str) -> None:
    lake.catalog.ensure(Latest)
    with pytest.raises(SchemaRefused) as refused:
        lake.catalog.ensure(changed(amount=column(kind, "x")))
    for part in ("bare.latest", "column amount is int", kind.split("(")[0], "lakehouse drop"):
        assert part in str(refused.value)
    assert columns(lake)["amount"] == "int"


@pytest.mark.parametrize("narrow", ["decimal(9,2)", "decimal(12,3)"])
def test_a_narrower_or_rescaled_decimal_is_refused(lake: Lake, narrow: str) -> None:
    lake.catalog.ensure(changed(price=column("decimal(10,2)", "Price.", nullable=True)))
    with pytest.raises(SchemaRefused, match="price"):
        lake.catalog.ensure(changed(price=column(narrow, "Price.", nullable=True)))


OBJECT = "struct<a:int,b:struct<c:decimal(6,2),d:string>,e:array<struct<f:int>>>"


def with_object(kind: str) -> type[Table]:
    return changed(x=column(kind, "Which.", nullable=True))


@pytest.mark.parametrize("kind", [
    "struct<a:int,b:struct<c:decimal(6,2),d:string>,e:array<struct<f:int>>,g:string>",
    "struct<g:struct<h:string>,a:int,b:struct<c:decimal(6,2),d:string>,e:array<struct<f:int>>>",
    "struct<a:int,b:struct<c:decimal(6,2),g:date,d:string>,e:array<struct<f:int,g:string>>>",
    "struct<a:bigint,b:struct<c:decimal(9,2),d:string>,e:array<struct<f:bigint>>>",
    "struct<e:array<struct<f:int>>,a:int,b:struct<d:string,c:decimal(6,2)>>",
])  # fmt: skip
def test_an_object_takes_new_members_wider_ones_and_their_order(lake: Lake, kind: str) -> None:
    lake.catalog.ensure(with_object(OBJECT))
    before = lake.catalog.load("bare.latest").schema()
    lake.catalog.ensure(with_object(kind))
    found = lake.catalog.load("bare.latest").schema()
    assert lake.table("bare.latest").schema["x"].dataType.simpleString() == kind
    for known in ("x.a", "x.b.c", "x.b.d", "x.e.element.f"):
        assert found.find_field(known).field_id == before.find_field(known).field_id
    lake.catalog.ensure(with_object(kind))
    assert lake.catalog.load("bare.latest").schema().schema_id == found.schema_id


def test_a_snapshot_from_before_is_read_with_todays_members(lake: Lake) -> None:
    old = LakeTable(with_object(OBJECT), "bare")
    x = {"a": 1, "b": {"c": Decimal("1.50"), "d": "d"}, "e": [{"f": 2}]}
    add(lake, old, {"id": "a", "at": DAY, "x": x}, {"id": "b", "at": DAY})
    lake.catalog.ensure(with_object(
        "struct<g:date,a:bigint,b:struct<h:int,c:decimal(9,2),d:string>,"
        "e:array<struct<i:int,f:bigint>>>"
    ))  # fmt: skip
    head = lake.catalog.head("bare.latest")
    assert head.older_schema
    found = lake.at(head)
    assert found.schema["x"] == lake.table("bare.latest").schema["x"]
    assert [r["x"] for r in fetched(found.orderBy("id")).to_pylist()] == [
        {"g": None, "a": 1, "b": {"h": None, "c": Decimal("1.50"), "d": "d"},
         "e": [{"i": None, "f": 2}]},
        None,
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "path"), [
    ("struct<a:int,b:struct<c:decimal(6,2),d:string>>", "x.e is in the table but not"),
    ("struct<a:int,b:struct<d:string,g:string>,e:array<struct<f:int>>>", "x.b.c is in the table"),
    ("struct<a:int,b:struct<c:decimal(6,2),d:int>,e:array<struct<f:int>>>", "x.b.d is string"),
    ("struct<a:int,b:struct<c:decimal(5,2),d:string>,e:array<struct<f:int>>>", "x.b.c is decimal"),
    ("struct<a:int,b:string,e:array<struct<f:int>>>", "x.b is struct"),
    ("struct<a:int,b:struct<c:decimal(6,2),d:string>,e:array<struct<f:string>>>",
     "x.e.element.f is int, the contract says string"),
    ("string", "x is struct"),
])  # fmt: skip
def test_a_member_that_is_gone_or_narrower_is_refused_by_its_path(
    lake: Lake, kind: str, path: str
) -> None:
    lake.catalog.ensure(with_object(OBJECT))
    before = columns(lake)
    with pytest.raises(SchemaRefused, match=f"bare.latest: column {re.escape(path)}.*drop"):
        lake.catalog.ensure(with_object(kind))
    assert columns(lake) == before


def test_a_dropped_column_is_refused_with_the_way_out(lake: Lake) -> None:
    lake.catalog.ensure(changed(colour=column("string", "Which.", nullable=True)))
    with pytest.raises(SchemaRefused, match=r"colour is in the table but not in the .*drop"):
        lake.catalog.ensure(Latest)
