"""A raw table's good records as Avro: the envelope as its source's sink would leave it, and where
in Kafka each of them is, so that anybody can replay them.

Every part may be null: of a tombstone, a record without a value, all of the envelope is.
"""

import json
import re
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.bases import COORDINATES as ADDED
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.topics.parse import raw_contract

if TYPE_CHECKING:
    from pyspark.sql import Column

PLAIN = {"string": "string", "int": "int", "bigint": "long", "double": "double",
         "boolean": "boolean", "binary": "bytes"}  # fmt: skip
TIMES = {"timestamp": ("long", "timestamp-micros"), "date": ("int", "date")}
# Debezium's names of an envelope's parts; another part is named by where it is.
PARTS = {"before": "Value", "after": "Value", "source": "Source", "transaction": "Block"}
KAFKA = {
    "topic": "string", "generation": "int", "partition": "int", "offset": "bigint",
    "timestamp": "timestamp",
}  # fmt: skip


def schema_of(table: LakeTable) -> str:
    """As JSON; the same contract always gives the same text."""
    known: set[str] = set()
    fields = [_optional(name, kind, PARTS.get(name, name.capitalize()), known)
              for name, kind in raw_contract(table).fields().items()]  # fmt: skip
    places = [{"name": n, "type": _settled(k)} for n, k in KAFKA.items()]
    kafka = {"name": "kafka", "type": {"type": "record", "name": "Kafka", "fields": places}}
    spelled = re.sub(r"[^A-Za-z0-9_.]", "_", table.topic)  # Kafka allows a dash
    namespace = re.sub(r"(^|\.)(?=\d)", r"\1_", spelled)
    record = {"type": "record", "name": "Envelope", "namespace": namespace}
    return json.dumps(record | {"fields": [*fields, kafka]})


def encoded(table: LakeTable) -> "Column":
    """A row as Avro's bytes, without a header."""
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import to_avro

    own = {n: c for n, c in table.contract.columns.items() if n not in ADDED}
    fields = ", ".join(f"'{c.field or n}', `{n}`" for n, c in own.items())
    kafka = (
        f"named_struct('topic', '{table.topic}', 'generation', topic_generation, 'partition', "
        "kafka_partition, 'offset', kafka_offset, 'timestamp', arrived_at)"
    )
    return to_avro(F.expr(f"named_struct({fields}, 'kafka', {kafka})"), schema_of(table))


def _optional(name: str, kind: str, part: str, known: set[str]) -> dict[str, Any]:
    return {"name": name, "type": ["null", _avro(kind, part, known)], "default": None}


def _avro(kind: str, part: str, known: set[str]) -> Any:
    """Spark's spelling of a type as Avro. A record's name stands for it from the second time on."""
    if kind.startswith("array<"):
        return {"type": "array", "items": ["null", _avro(kind[6:-1], part, known)]}
    if not kind.startswith("struct<"):
        return _settled(kind)
    if part in known:
        return part
    known.add(part)
    fields = [_optional(n, k, f"{part}_{n}", known) for n, k in members(kind)]
    return {"type": "record", "name": part, "fields": fields}


def _settled(kind: str) -> Any:
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in TIMES:
        base, logical = TIMES[kind]
        return {"type": base, "logicalType": logical}
    digits, scale = map(int, re.findall(r"\d+", kind))
    return {"type": "bytes", "logicalType": "decimal", "precision": digits, "scale": scale}
