"""From a contract to an Iceberg table, and how a living table follows a contract that changed."""

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
from lakehouse_assets_tests.lake.tables import Latest, Notes


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


def test_a_dropped_column_is_refused_with_the_way_out(lake: Lake) -> None:
    lake.catalog.ensure(changed(colour=column("string", "Which.", nullable=True)))
    with pytest.raises(SchemaRefused, match=r"colour is in the table but not in the .*drop"):
        lake.catalog.ensure(Latest)
