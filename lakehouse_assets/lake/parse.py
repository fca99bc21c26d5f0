"""Kafka's records as a raw table's rows: parsed once; what does not parse is kept as it came."""

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakehouse_assets.lake.contract import COORDINATES, Column
from lakehouse_assets.lake.schema import split_fields
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

CORRUPT = "_corrupt_record"


def parse(records: "DataFrame", table: LakeTable) -> "DataFrame":
    """Kafka's rows, and which topic and hour they are of, as the table's: typed fields, or the
    reason why not and the bytes.
    """
    from pyspark.sql import functions as F

    fields = {n: c for n, c in table.contract.columns.items() if n not in COORDINATES}
    text = F.col("value").cast("string")
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": CORRUPT,
        "allowSingleQuotes": "false",
    }
    parsed = records.select(
        "partition", "offset", "timestamp", "value", "topic_generation", "ingest_hour",
        F.from_json(text, _json_schema(fields), options).alias("j"),
        F.json_object_keys(text).alias("names"),
        F.expr("is_valid_utf8(cast(value as string))").alias("utf8"),
    )  # fmt: skip
    judged = parsed.withColumn("_error", F.expr(_error(table, fields)))
    good = F.col("_error").isNull()
    unknown = F.expr(_unknown(fields))
    return judged.select(
        *[F.when(good, _field(n, c)).alias(n) for n, c in fields.items()],
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        "topic_generation",
        F.col("timestamp").alias("arrived_at"),
        "ingest_hour",
        "_error",
        F.when(~good | unknown, F.col("value")).alias("_payload"),
    )


def _error(table: LakeTable, fields: dict[str, Column]) -> str:
    nothing = "null" if table.tombstones else "'null value'"
    times = [n for n, c in fields.items() if c.type == "timestamp"]
    untimely = [f"(j.`{n}` is not null and {_time(n)} is null)" for n in times]
    wrong = " or ".join([f"j.{CORRUPT} is not null", *untimely])
    text = "cast(value as string)"
    # Spark reads the first object and leaves the rest. Looking for more costs a second parse, so
    # that is done only where the names are not just those of the contract.
    more = f"coalesce(json_array_length(concat('[', {text}, ']')), 0) != 1"
    odd = f"names != array({', '.join(repr(n) for n in fields)})"
    return (
        f"case when value is null then {nothing} when not utf8 then 'invalid utf-8' "
        f"when names is null or not endswith(rtrim({text}), '}}') or ({odd} and {more}) "
        f"then 'malformed' when {wrong} then 'wrong type' end"
    )


def _is_text_struct(column: Column) -> bool:
    """Objects of text alone are parsed as maps, which keep the names that nobody declared."""
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return column.type.startswith("struct<") and all(
        part.split(":")[1].strip() == "string" for part in split_fields(inner)
    )


def _json_type(column: Column) -> str:
    """What JSON is parsed to first. Times stay text: Spark would take any number for one."""
    if _is_text_struct(column):
        return "map<string,string>"
    return "string" if column.type == "timestamp" else column.type


def _time(name: str) -> str:
    """SQL: an ISO 8601 instant of the years 1 to 9999, which every reader can hold; else NULL."""
    text = f"j.`{name}`"
    plain = f"length({text}) >= 10 and substr({text}, 5, 1) = '-' and {text} >= '0001'"
    return f"if({plain}, try_cast({text} as timestamp), null)"


def _members(column: Column) -> list[str]:
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return [part.split(":")[0].strip() for part in split_fields(inner)]


def _json_schema(fields: dict[str, Column]) -> str:
    types = {n: _json_type(c) for n, c in fields.items()}
    return ", ".join(f"`{n}` {t}" for n, t in types.items()) + f", {CORRUPT} string"


def _field(name: str, column: Column) -> "SparkColumn":
    from pyspark.sql import functions as F

    if column.type == "timestamp":
        return F.expr(_time(name))
    if not _is_text_struct(column):
        return F.col(f"j.`{name}`")
    members = ", ".join(f"'{m}', try_element_at(j.`{name}`, '{m}')" for m in _members(column))
    return F.expr(f"if(j.`{name}` is null, null, named_struct({members}))")


def _unknown(fields: dict[str, Column]) -> str:
    """SQL: some name, at the top or inside an object of texts, is not in the contract."""
    tests = [_strange("names", list(fields))]
    for name, column in fields.items():
        if _is_text_struct(column):
            tests.append(_strange(f"map_keys(j.`{name}`)", _members(column)))
        elif column.type.startswith("struct<"):
            inner = f"json_object_keys(get_json_object(cast(value as string), '$.{name}'))"
            tests.append(_strange(inner, _members(column)))
    return f"coalesce({' or '.join(tests)}, false)"


def _strange(names: str, known: list[str]) -> str:
    """Names exactly in the contract's order are the common case and the cheap test."""
    listed = ", ".join(f"'{n}'" for n in known)
    return f"({names} != array({listed}) and size(array_except({names}, array({listed}))) > 0)"


def iso(moment: datetime) -> str:
    return naive(moment).isoformat()


def naive(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc).replace(tzinfo=None) if moment.tzinfo else moment
