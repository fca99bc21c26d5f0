"""What one Kafka record of a captured table must become in raw, by fastavro alone.

A null value is a deletion's second record. All else begins with a zero and the id of one of its
topic's schemas; what a schema types otherwise than the table makes an error of all its records, and
what it has beyond the table makes their bytes be kept.
"""

import struct
from decimal import Decimal
from typing import Any

from lakehouse_assets.sources.oracle import MALFORMED, WRONG_TYPE, Parsed
from lakehouse_assets.sources.storefront.truth.shape import SENT, Table
from lakehouse_assets.sources.storefront.truth.written import (
    HEAD,
    UNREADABLE,
    Schemas,
    Written,
    parts,
    without_null,
)

TIMES = {"ts_ms": "bigint", "ts_us": "bigint", "ts_ns": "bigint"}
TEXT, NUMBER = "string", "bigint"
SOURCE = {
    "version": TEXT, "connector": TEXT, "name": TEXT, **TIMES, "snapshot": TEXT, "db": TEXT,
    "sequence": TEXT, "schema": TEXT, "table": TEXT, "txId": NUMBER, "lsn": NUMBER, "xmin": NUMBER,
    "origin": TEXT, "origin_lsn": NUMBER,
}  # fmt: skip
TRANSACTION = {"id": TEXT, "total_order": NUMBER, "data_collection_order": NUMBER}
NAMES = {  # Avro's types by what the lake calls them
    "boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double",
    "string": "string", "bytes": "binary", "enum": "string", "fixed": "binary",
    "date": "date", "timestamp-millis": "timestamp", "timestamp-micros": "timestamp",
}  # fmt: skip

Wanted = dict[str, Any]  # by name a type, or the members of an object


class Reader:
    """Of one topic's records."""

    def __init__(self, table: Table, schemas: Schemas) -> None:
        row = {column.origin: SENT[column.kind] for column in table.columns}
        self._wanted: Wanted = {
            "op": TEXT, **TIMES, "transaction": TRANSACTION, "source": SOURCE, "before": row,
            "after": row,
        }  # fmt: skip
        self._schemas = schemas
        self._odd = {id: self._looked_at(one) for id, one in schemas.items()}

    def parse(self, value: bytes | None) -> Parsed:
        nothing = dict.fromkeys(self._wanted)
        if value is None:
            return Parsed(None, nothing | {"is_deletion": True}, False)
        error, read, has_more = self._read(value)
        row = nothing if error else _chosen(read, self._wanted)
        return Parsed(error, row | {"is_deletion": False}, has_more)

    def _read(self, value: bytes) -> tuple[str | None, Any, bool]:
        """Why it cannot be read, what it says, and whether there is more in it than was asked."""
        if len(value) < HEAD or value[0]:
            return "no schema id", None, False
        (number,) = struct.unpack(">I", value[1:HEAD])
        if number not in self._schemas:
            return f"unknown schema {number}", None, False
        wrong, more = self._odd[number]
        if wrong:
            return f"{WRONG_TYPE}: {', '.join(sorted(wrong))}", None, more
        try:
            return None, self._schemas[number].read(value[HEAD:]), more
        except UNREADABLE:
            return MALFORMED, None, more

    def _looked_at(self, written: Written) -> tuple[list[str], bool]:
        """What a schema types otherwise, and whether it has more."""
        wrong: list[str] = []
        return wrong, _has_more(written.parts, self._wanted, "", wrong)


def _has_more(there: dict[str, Any], wanted: Wanted, path: str, wrong: list[str]) -> bool:
    has_more = bool(there.keys() - wanted.keys())
    for name in wanted.keys() & there.keys():
        kind, inside = wanted[name], parts(there[name])
        if isinstance(kind, dict) and inside:
            has_more |= _has_more(inside, kind, f"{path}{name}.", wrong)
        elif (has := _called(there[name])) != kind and not _fits(has, kind):
            wrong.append(f"{path}{name} is {has}, not {_spelled(kind)}")
    return has_more


def _called(avro: Any) -> str:
    avro = without_null(avro)
    if isinstance(avro, list):
        return "a union"
    if isinstance(avro, str):
        return NAMES.get(avro, avro)
    logical = avro.get("logicalType")
    if logical == "decimal":
        return f"decimal({avro['precision']},{avro.get('scale', 0)})"
    if avro["type"] == "array":
        return f"array<{_called(avro['items'])}>"
    return NAMES.get(logical) or _called(avro["type"])


def _fits(has: str, wanted: Any) -> bool:
    """Nothing is lost on the way."""
    if has.startswith("decimal(") and str(wanted).startswith("decimal("):
        (digits, scale), (more, places) = (map(int, k[8:-1].split(",")) for k in (has, wanted))
        return places >= scale and more - places >= digits - scale
    return (has, wanted) == ("int", "bigint")


def _spelled(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    return f"struct<{','.join(f'{name}:{_spelled(k)}' for name, k in kind.items())}>"


def _chosen(read: Any, wanted: Wanted) -> dict[str, Any]:
    """Of what was read the members that were asked for, in their order."""
    return {name: _value(read.get(name), kind) for name, kind in wanted.items()}


def _value(read: Any, kind: Any) -> Any:
    if isinstance(kind, dict) and read is not None:
        return _chosen(read, kind)
    if isinstance(read, Decimal):
        return read.quantize(Decimal(1).scaleb(-int(kind[:-1].split(",")[1])))
    return read
