"""Avro records as a raw table's columns, by name, whichever schema each was written with.

The first bytes of a record tell its schema's id; the registry is asked once a batch which those of
the topic are. Or there is nothing before the Avro, and all records are of one schema. A column that
a schema does not have is NULL; one that has another type there, into which nothing is lost, is
cast; else the schema's records are errors that name it.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.schema import members
from lakehouse_assets.topics.registry import Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HEAD = 5  # bytes before the Avro: a zero, then the schema's id
HAS_ID = f"substring(value, 1, 1) = X'00' and length(value) >= {HEAD}"
NUMBER = "cast(conv(hex(substring(value, 2, 4)), 16, 10) as bigint)"
END = bytes.fromhex("9d3ac5f07e12b846")  # put behind each: to be read next, if nothing was left
UUID = "(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
SAME = ("boolean", "int", "float", "double", "string")
PRIMITIVES = dict(zip(SAME, SAME, strict=True)) | {"long": "bigint", "enum": "string"}
PRIMITIVES |= {"bytes": "binary", "fixed": "binary"}
LOGICAL = {"timestamp-millis": "timestamp", "timestamp-micros": "timestamp", "date": "date"}
WIDER = {("int", "bigint"), ("float", "double"), ("int", "double")}


@dataclass
class Found:
    """What one writer's schema means to a table."""

    values: dict[str, str] = field(default_factory=dict)  # SQL by column
    wrong: list[str] = field(default_factory=list)  # paths whose type is another one
    unknown: list[str] = field(default_factory=list)  # paths that the table has no column for
    missing: list[str] = field(default_factory=list)  # paths that the schema does not have
    uuids: dict[str, str] = field(default_factory=dict)  # SQL of texts that are uuids, by path


def read(
    records: "DataFrame",
    fields: dict[str, str],
    written: list[Written],
    number: str = f"if({HAS_ID}, {NUMBER}, null)",
    head: int = HEAD,
) -> "tuple[DataFrame, dict[str, str], str]":
    """The records decoded, with `_problem`: why a record cannot be read; SQL for each field, and
    for whether there was more in it than the fields. `number`: SQL for the id of its schema, which
    stands in so many bytes before it.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import from_avro

    frame = records.withColumn("_schema", F.expr(number))
    found = {one.id: matched(one, fields) for one in written}
    for one in written:
        whole = f"concat(substring(value, {head + 1}), X'{END.hex()}')"
        body, schema = F.expr(f"if(_schema = {one.id}, {whole}, null)"), one.framed(END)
        frame = frame.withColumn(f"_as_{one.id}", from_avro(body, schema, {"mode": "PERMISSIVE"}))
    values = {name: _chosen(name, kind, found) for name, kind in fields.items()}
    more = ", ".join(["-1", *[str(k) for k, f in found.items() if f.unknown]])
    judged = frame.withColumn("_problem", F.expr(_problem(found, written)))
    return judged, values, f"coalesce(_schema in ({more}), false)"


def read_plain(
    records: "DataFrame", fields: dict[str, str], written: Written
) -> "tuple[DataFrame, dict[str, str], str]":
    """Records without an id before them. Nothing in them says that they are of another schema: some
    of another one decode, too. What the schema calls a uuid has to be one.
    """
    return read(records, fields, [written], number=f"cast({written.id} as bigint)", head=0)


def _chosen(name: str, kind: str, found: dict[int, Found]) -> str:
    """SQL: a field of a record, as its own schema tells."""
    cases = " ".join(f"when {k} then {f.values[name]}" for k, f in found.items())
    return f"case _schema {cases} when -1 then cast(null as {kind}) end"


def _problem(found: dict[int, Found], written: list[Written]) -> str:
    """SQL: why a record cannot be read; NULL for one that can. Of a body that does not decode
    nothing is there; of one with bytes too many something else than the end.
    """
    cases = ["when _schema is null then 'no schema id'"]
    for one in written:
        wrong = ", ".join(sorted(found[one.id].wrong))
        is_whole = f"_as_{one.id}.end <=> X'{END.hex()}'"
        odd = " ".join(f"when not {sql} rlike '{UUID}' then 'wrong type: {path} is no uuid'"
                       for path, sql in found[one.id].uuids.items())  # fmt: skip
        why = f"case when not {is_whole} then 'malformed' {odd} end"
        why = f"'wrong type: {wrong}'" if wrong else why
        cases.append(f"when _schema = {one.id} then {why}")
    return f"case {' '.join(cases)} else concat('unknown schema ', _schema) end"


def matched(written: Written, fields: dict[str, str]) -> Found:
    """Which of a schema's parts the fields are."""
    found, there, as_it = Found(), _parts(written.schema), f"_as_{written.id}.it"
    for name, kind in fields.items():
        found.values[name] = _value(f"{as_it}.`{name}`", there.get(name), kind, name, found)
    found.unknown += [name for name in there if name not in fields]
    return found


def _value(sql: str, avro: Any, kind: str, path: str, found: Found) -> str:
    """SQL: that part as the wanted type."""
    nothing = f"cast(null as {kind})"
    if avro is None:
        found.missing.append(path)
        return nothing
    if kind.startswith("struct<") and (there := _parts(avro)):
        wanted = dict(members(kind))
        found.unknown += [f"{path}.{n}" for n in there if n not in wanted]
        parts = [f"'{n}', {_value(f'{sql}.`{n}`', there.get(n), k, f'{path}.{n}', found)}"
                 for n, k in wanted.items()]  # fmt: skip
        return f"if({sql} is null, null, named_struct({', '.join(parts)}))"
    settled = _settled(avro)
    if isinstance(settled, dict) and settled.get("logicalType") == "uuid":
        found.uuids[path] = sql
    if (has := spark_type(avro)) == kind.replace(" ", ""):
        return sql
    if not _widens(has, kind):
        found.wrong.append(f"{path} is {has}, not {kind}")
        return nothing
    return f"cast({sql} as {kind})"


def _parts(avro: Any) -> dict[str, Any]:
    """An object's members by name; nothing for a value."""
    avro = _settled(avro)
    return {f["name"]: f["type"] for f in avro.get("fields", [])} if isinstance(avro, dict) else {}


def _settled(avro: Any) -> Any:
    """Without the null of a union."""
    some = [one for one in avro if one != "null"] if isinstance(avro, list) else []
    return some[0] if len(some) == 1 else avro


def spark_type(avro: Any) -> str:
    """What Spark makes of a value; what it is called there, if it is none that we can take."""
    avro = _settled(avro)
    if isinstance(avro, str):
        return PRIMITIVES.get(avro, avro)
    if isinstance(avro, list):
        return "a union"
    if (logical := avro.get("logicalType")) == "decimal":
        return f"decimal({avro['precision']},{avro.get('scale', 0)})"
    if avro["type"] == "array":
        return f"array<{spark_type(avro['items'])}>"
    return LOGICAL.get(logical) or spark_type(avro["type"])


def _widens(has: str, wanted: str) -> bool:
    if has.startswith("decimal(") and wanted.startswith("decimal("):
        (p, s), (q, t) = (map(int, k[8:-1].split(",")) for k in (has, wanted))
        return t >= s and q - t >= p - s
    return (has, wanted) in WIDER
