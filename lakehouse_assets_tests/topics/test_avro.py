"""A record of Avro becomes one row by its own schema: typed, or with the reason why not."""

import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import fastavro
import pytest

from lakehouse_assets.commands.compare import rows_of
from lakehouse_assets.commands.repair import replay
from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.topics import registry
from lakehouse_assets.topics.avro import END
from lakehouse_assets.topics.registry import Written
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, parsed, send

MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
ROW = {
    "type": "record", "name": "Value", "namespace": "shop.orders", "fields": [
        {"name": "id", "type": "int"},
        {"name": "total", "type": ["null", MONEY], "default": None},
        {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
    ],
}  # fmt: skip
CHANGE = {
    "type": "record", "name": "Envelope", "namespace": "shop.orders", "fields": [
        {"name": "before", "type": ["null", ROW], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
    ],
}  # fmt: skip


class Changes(RawTable, name="raw.changes"):
    codec = "avro"
    before = column("struct<id:bigint,total:decimal(14,2),tags:array<string>>", "Before.")
    after = column("struct<id:bigint,total:decimal(14,2),tags:array<string>>", "After.")
    op = column("string", "What happened.")


class Keyed(Changes, name="raw.changes"):
    is_deletion = column("boolean", "A null value.")


def spoken(number: int, schema: dict[str, Any], value: Row) -> bytes:
    """As a producer with a registry writes it."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return b"\0" + number.to_bytes(4, "big") + body.getvalue()


def without(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return schema | {"fields": [f for f in schema["fields"] if f["name"] != name]}


def row(number: int, total: str | None, *tags: str | None) -> Row:
    return {"id": number, "total": total and Decimal(total), "tags": [*tags]}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Written]]:
    """What the registry would tell; the real one is asked in the tests of the captured tables."""
    schemas: list[Written] = []
    monkeypatch.setattr(registry, "versions", lambda topic: schemas)
    yield schemas


def table(contract: type[RawTable] = Changes) -> LakeTable:
    return notes("changes", contract)


def test_a_change_is_typed_by_its_own_schema_and_by_name(
    lake: Lake, written: list[Written]
) -> None:
    written.append(Written(7, json.dumps(CHANGE)))
    before, after = row(1, "3.50", "a", None), row(1, None)
    value = spoken(7, CHANGE, {"before": before, "after": after, "op": "u"})
    (found,) = parsed(lake, table(), value)
    assert (found["before"], found["after"], found["op"]) == (before, after, "u")
    assert (found["_error"], found["_payload"]) == (None, None)


def test_records_of_several_schemas_are_read_in_one_batch(
    lake: Lake, written: list[Written]
) -> None:
    older = without(CHANGE, "before") | {"fields": [
        {"name": "op", "type": "string"}, {"name": "after", "type": ["null", without(ROW, "tags")]},
    ]}  # fmt: skip
    wider = json.loads(json.dumps(CHANGE))
    wider["fields"][0]["type"][1]["fields"].append({"name": "colour", "type": "string"})
    written += [Written(1, json.dumps(older)), Written(300, json.dumps(wider))]
    values = [
        spoken(1, older, {"op": "c", "after": {"id": 1, "total": Decimal("1.00")}}),
        spoken(300, wider, {"op": "c", "before": None, "after": row(2, "2.00") | {"colour": "r"}}),
    ]
    old, new = parsed(lake, table(), *values)
    assert old["after"] == {"id": 1, "total": Decimal("1.00"), "tags": None}
    assert old["before"] is None and old["_payload"] is None
    assert new["after"]["id"] == 2 and new["_payload"] == values[1], "what has no column is kept"


def test_what_cannot_be_read_is_an_error_with_its_bytes(lake: Lake, written: list[Written]) -> None:
    text = json.loads(json.dumps(CHANGE))
    text["fields"][0]["type"][1]["fields"][1] = {"name": "total", "type": "string"}
    written += [Written(1, json.dumps(CHANGE)), Written(2, json.dumps(text))]
    after = row(1, None) | {"total": "much"}
    whole = spoken(1, CHANGE, {"op": "c", "after": row(1, "1.00")})
    values = {
        "unknown schema 9": spoken(9, CHANGE, {"op": "c", "after": None}),
        "no schema id": b'{"op": "c"}',
        "malformed": whole[:9],
        "wrong type: after.total is string, not decimal(14,2), before.total is string, not "
        "decimal(14,2)": spoken(2, text, {"op": "c", "before": None, "after": after}),
        "null value": None,
    }
    found = parsed(lake, table(), *values.values())
    assert [r["_error"] for r in found] == [*values]
    assert [r["_payload"] for r in found] == [*values.values()]
    assert all(r["op"] is None and r["after"] is None for r in found)


def test_a_record_whose_schema_becomes_known_is_replayed(
    lake: Lake, written: list[Written]
) -> None:
    written.append(Written(7, json.dumps(CHANGE)))
    late = notes(make_topic(f"late-schema-{uuid4().hex[:8]}"), Changes)
    send(late.topic, spoken(1, CHANGE, {"op": "c", "before": None, "after": row(1, "1.00")}))
    ingest(lake, late)
    assert [r["_error"] for r in rows_of(late.name)] == ["unknown schema 1"]
    assert replay(lake, late) is None, "nothing is known that was not before"
    written.append(Written(1, json.dumps(CHANGE)))
    assert replay(lake, late) is not None
    (found,) = rows_of(late.name)
    assert (found["_error"], found["_payload"], found["op"]) == (None, None, "c")
    assert found["after"] == row(1, "1.00")


def test_a_null_value_is_no_error_where_it_deletes(lake: Lake, written: list[Written]) -> None:
    written.append(Written(1, json.dumps(CHANGE)))
    whole = spoken(1, CHANGE, {"op": "c", "after": row(1, "1.00")})
    told = [(r["is_deletion"], r["_error"]) for r in parsed(lake, table(Keyed), None, whole)]
    assert told == [(True, None), (False, None)]


def test_a_registry_that_knows_nothing_of_a_topic_stops_what_would_read_it(
    lake: Lake, written: list[Written]
) -> None:
    value = spoken(1, CHANGE, {"op": "c", "after": None})
    with pytest.raises(ServiceError, match=r"raw\.changes: 1 records of changes name schemas"):
        parsed(lake, table(), value, b"no Avro", None)
    found = parsed(lake, table(), b"no Avro", None)
    assert [r["_error"] for r in found] == ["no schema id", "null value"]


def test_bytes_that_are_left_over_are_malformed(lake: Lake, written: list[Written]) -> None:
    empty = {"type": "record", "name": "T", "fields": [{"name": "op", "type": ["null", "string"]}]}
    written += [Written(1, json.dumps(CHANGE)), Written(2, json.dumps(empty))]
    whole = spoken(1, CHANGE, {"op": "c", "before": None, "after": row(1, "1.00")})
    nothing = spoken(2, empty, {"op": None})
    odd = [whole + whole[5:], whole + b"\0", nothing + nothing[5:], whole + END[:3], whole[:-1]]
    told = [r["_error"] for r in parsed(lake, table(), whole, nothing, *odd)]
    assert told[:2] == [None, None], "of a record nothing may be there"
    assert told[2:] == ["malformed"] * 5


def test_a_length_that_no_record_has_is_malformed_and_takes_no_memory(
    lake: Lake, written: list[Written]
) -> None:
    text = {"type": "record", "name": "T", "fields": [{"name": "op", "type": "string"}]}
    written.append(Written(1, json.dumps(text)))
    for letters in (100_000_000, 1_900_000_000, 2**31 - 1):
        length = io.BytesIO()
        fastavro.schemaless_writer(length, "long", letters)
        huge = b"\0\0\0\0\1" + length.getvalue() + b"abc"
        assert [r["_error"] for r in parsed(lake, table(), huge)] == ["malformed"], letters
