"""Kafka's records as a raw table's rows: parsed once; what does not parse is kept as it came."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakehouse_assets.lake.contract import COORDINATES, Column
from lakehouse_assets.lake.schema import split_fields
from lakehouse_assets.lake.table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

CORRUPT = "_corrupt_record"


def parse(records: "DataFrame", table: LakeTable, generation: int, hour: datetime) -> "DataFrame":
    """Kafka's rows as the table's: typed fields, or the reason why not and the bytes."""
    from pyspark.sql import functions as F

    fields = {n: c for n, c in table.contract.columns.items() if n not in COORDINATES}
    text = F.col("value").cast("string")
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": CORRUPT,
        "allowSingleQuotes": "false",
    }
    parsed = records.select(
        "partition", "offset", "timestamp", "value",
        F.from_json(text, _json_schema(fields), options).alias("j"),
        F.json_object_keys(text).alias("names"),
        F.expr("is_valid_utf8(cast(value as string))").alias("utf8"),
    )  # fmt: skip
    judged = parsed.withColumn("_error", F.expr(_error(table)))
    good = F.col("_error").isNull()
    unknown = F.expr(_unknown(fields))
    return judged.select(
        *[F.when(good, _field(n, c)).alias(n) for n, c in fields.items()],
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.lit(generation).alias("topic_generation"),
        F.col("timestamp").alias("arrived_at"),
        F.expr(f"timestamp'{iso(hour)}'").alias("ingest_hour"),
        "_error",
        F.when(~good | unknown, F.col("value")).alias("_payload"),
    )


def _error(table: LakeTable) -> str:
    nothing = "null" if table.tombstones else "'null value'"
    return (
        f"case when value is null then {nothing} when not utf8 then 'invalid utf-8' "
        f"when names is null then 'malformed' when j.{CORRUPT} is not null then 'wrong type' end"
    )


def _is_text_struct(column: Column) -> bool:
    """Objects of text alone are parsed as maps, which keep the names that nobody declared."""
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return column.type.startswith("struct<") and all(
        part.split(":")[1].strip() == "string" for part in split_fields(inner)
    )


def _members(column: Column) -> list[str]:
    inner = column.type.removeprefix("struct<").removesuffix(">")
    return [part.split(":")[0].strip() for part in split_fields(inner)]


def _json_schema(fields: dict[str, Column]) -> str:
    types = {n: "map<string,string>" if _is_text_struct(c) else c.type for n, c in fields.items()}
    return ", ".join(f"`{n}` {t}" for n, t in types.items()) + f", {CORRUPT} string"


def _field(name: str, column: Column) -> "SparkColumn":
    from pyspark.sql import functions as F

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
    return f"coalesce({' or '.join(tests)}, false)"


def _strange(names: str, known: list[str]) -> str:
    """Names exactly in the contract's order are the common case and the cheap test."""
    listed = ", ".join(f"'{n}'" for n in known)
    return f"({names} != array({listed}) and size(array_except({names}, array({listed}))) > 0)"


def iso(moment: datetime) -> str:
    return naive(moment).isoformat()


def naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
