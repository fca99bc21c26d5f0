"""Changes of the shop's tables as Debezium sends them, by schemas like its converter's."""

import json
from typing import Any

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.raw.change import ORIGIN
from lakehouse_assets.topics import registry
from lakehouse_assets.topics.registry import Written
from lakehouse_assets_tests.support import broken_rules
from lakehouse_assets_tests.topics.records import parsed
from lakehouse_assets_tests.topics.test_avro import spoken

Row = dict[str, Any]
Avro = Any

KINDS = {"bigint": "long", "int": "int", "boolean": "boolean", "string": "string"}
PLACE = "struct<id:string,total_order:bigint,data_collection_order:bigint>"


def avro(kind: str, name: str) -> Avro:
    """Spark's spelling of a type as Avro that may be null."""
    if kind.startswith("struct<"):
        fields = [{"name": n, "type": avro(k, f"{name}_{n}"), "default": None}
                  for n, k in members(kind)]  # fmt: skip
        return ["null", {"type": "record", "name": name, "fields": fields}]
    if kind.startswith("array<"):
        return ["null", {"type": "array", "items": avro(kind[6:-1], name)}]
    if kind.startswith("decimal"):
        precision, scale = map(int, kind[8:-1].split(","))
        logical = {"logicalType": "decimal", "precision": precision, "scale": scale}
        return ["null", {"type": "bytes", **logical}]
    return ["null", KINDS[kind]]


def envelope(table: LakeTable) -> dict[str, Any]:
    fields = [
        {"name": "before", "type": avro(table.contract.columns["before"].type, "Value")},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": avro(ORIGIN, "Source")[1]},
        {"name": "transaction", "type": avro(PLACE, "Block"), "default": None},
        {"name": "op", "type": "string"},
        *[{"name": n, "type": ["null", "long"]} for n in ("ts_ms", "ts_us", "ts_ns")],
    ]
    return {"type": "record", "name": "Envelope", "namespace": "shop", "fields": fields}


def is_captured(
    lake: Lake, table: LakeTable, monkeypatch: pytest.MonkeyPatch, **row: Any
) -> None:
    """The row comes through as it was sent, with its place in the log; a null value is a deletion,
    not an error; and a change that does not say what it has to breaks a rule.
    """
    columns = dict(members(table.contract.columns["after"].type))
    assert row.keys() <= columns.keys()
    whole = dict.fromkeys(columns) | row
    schema = envelope(table)
    monkeypatch.setattr(registry, "versions", lambda topic: [Written(5, json.dumps(schema))])
    origin: Row = dict.fromkeys(dict(members(ORIGIN)))
    change = {"after": whole, "op": "c", "ts_ms": 1, "source": origin | {"lsn": 17, "txId": 3}}
    told, tombstone = parsed(lake, table, spoken(5, schema, change), None)
    assert told["after"] == whole and told["before"] is None and told["_error"] is None
    assert (told["op"], told["source"]["lsn"], told["_payload"]) == ("c", 17, None)
    assert (tombstone["is_deletion"], tombstone["_error"]) == (True, None)
    changes: list[Row] = [{"op": "c", "after": whole}, {"op": "u", "after": whole}, {"op": "x"}]
    broken = broken_rules(lake, table.contract, *changes)
    assert broken == ["", "says_what_was_and_is", "op_known"]
