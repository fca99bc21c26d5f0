"""Kafka's records as a raw table's rows: parsed once; what does not parse is kept as it came."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakehouse_assets import settings
from lakehouse_assets.lake.bases import COORDINATES, RawTable
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.topics import avro, registry
from lakehouse_assets.topics.spelling import Fields, usual

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Judged = tuple[DataFrame, dict[str, str], str]  # rows with `_error`, fields' SQL, is there more

CORRUPT = "_corrupt_record"
TEXT = "cast(value as string)"


NONE_YET = "cast(null as bigint)"


def parse(records: "DataFrame", table: LakeTable, attempt: str = NONE_YET) -> "DataFrame":
    """Kafka's rows, and which topic and hour they are of, as the table's: typed fields, or the
    reason why not and the bytes. `attempt`: SQL for the one that published a row before.
    """
    from pyspark.sql import functions as F

    contract = raw_contract(table)
    fields = contract.fields()
    read = {"json": _json, "avro": _avro, "avro-file": _avro_file}[contract.codec]
    told = records.withColumns({"topic": F.lit(table.topic), "attempt": F.expr(attempt)})
    judged, values, unknown = read(told, table, fields)
    good = F.col("_error").isNull()
    keyed = {"kafka_key": "cast(key as string)", "is_deletion": "value is null"}
    return judged.select(
        *[F.expr(c.made).alias(n) if c.made else F.when(good, F.expr(values[c.field or n])).alias(n)
          for n, c in contract.columns.items() if n not in COORDINATES],
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        "topic_generation",
        F.col("timestamp").alias("arrived_at"),
        "ingest_hour",
        *[F.expr(sql).alias(n) for n, sql in keyed.items() if n in contract.columns],
        F.current_timestamp().alias("_loaded_at"),
        "_error",
        F.when(~good | F.expr(unknown), F.col("value")).alias("_payload"),
    )


def _json(records: "DataFrame", table: LakeTable, fields: dict[str, str]) -> "Judged":
    from pyspark.sql import functions as F

    options = {"columnNameOfCorruptRecord": CORRUPT, "allowSingleQuotes": "false"}
    parsed = records.withColumn("j", F.from_json(F.expr(TEXT), _json_schema(fields), options))
    told = {f"at {n}": F.expr(_time(f"j.`{n}`")) for n in _times(fields)}
    odd = raw_contract(table).also != ()
    short = F.expr("false" if odd else usual(TEXT, "j", list(fields.items())))
    looked = parsed.withColumns({"usual": short} | told)
    named = looked.withColumn("names", F.expr(f"if(usual, null, json_object_keys({TEXT}))"))
    judged = named.withColumn("_error", F.expr(_error(table, fields)))
    values = {n: f"`at {n}`" if k == "timestamp" else f"j.`{n}`" for n, k in fields.items()}
    return judged, values, _unknown(fields)


def _avro(records: "DataFrame", table: LakeTable, fields: dict[str, str]) -> "Judged":

    written = registry.versions(table.topic)
    if not written and (count := records.where(avro.HAS_ID).count()):
        raise ServiceError(
            f"{table.name}: {count} records of {table.topic} name schemas, and the schema registry "
            "knows none of that topic. Is it the right one? Name yours in LAKEHOUSE_REGISTRY"
        )
    return _with_error(*avro.read(records, fields, written), table=table)


def _avro_file(records: "DataFrame", table: LakeTable, fields: dict[str, str]) -> "Judged":
    file = settings.ROOT / raw_contract(table).schema_file
    written = registry.Written(0, file.read_text(encoding="utf-8"))
    return _with_error(*avro.read_plain(records, fields, written), table=table)


def _with_error(
    judged: "DataFrame", values: dict[str, str], unknown: str, table: LakeTable
) -> "Judged":
    from pyspark.sql import functions as F

    error = F.expr(f"case when value is null then {_without_value(table)} else _problem end")
    return judged.withColumn("_error", error), values, unknown


def raw_contract(table: LakeTable) -> type[RawTable]:
    if not issubclass(table.contract, RawTable):
        raise TypeError(f"{table.name} is no raw table: it has no topic to be parsed from")
    return table.contract


def _json_schema(fields: dict[str, str]) -> str:
    """What JSON is parsed to first. Times stay text: Spark would take any number for one."""
    types = {n: "string" if kind == "timestamp" else kind for n, kind in fields.items()}
    return ", ".join(f"`{n}` {t}" for n, t in types.items()) + f", {CORRUPT} string"


def _times(fields: dict[str, str]) -> list[str]:
    return [n for n, kind in fields.items() if kind == "timestamp"]


def _time(text: str) -> str:
    """SQL: an ISO 8601 instant of the years 1 to 9999, which every reader can hold; else NULL."""
    plain = f"length({text}) >= 10 and substr({text}, 5, 1) = '-' and {text} >= '0001'"
    return f"if({plain}, try_cast({text} as timestamp), null)"


def _error(table: LakeTable, fields: dict[str, str]) -> str:
    """SQL: why the record is none of this table's; NULL for a good one."""
    untimely = [f"(j.`{n}` is not null and `at {n}` is null)" for n in _times(fields)]
    # Spark reads the first object of a text and leaves the rest.
    single = f"coalesce(json_array_length(concat('[', {TEXT}, ']')), 0) = 1"
    return (
        f"case when value is null then {_without_value(table)} "
        f"when not usual and not is_valid_utf8({TEXT}) then 'invalid utf-8' "
        f"when not usual and (names is null or not {single}) then 'malformed' "
        f"when {' or '.join([f'j.{CORRUPT} is not null', *untimely])} then 'wrong type' end"
    )


def _without_value(table: LakeTable) -> str:
    """SQL: what is wrong with a record that has no value; of a keyed topic it deletes."""
    return "null" if "is_deletion" in table.contract.columns else "'null value'"


def _unknown(fields: dict[str, str]) -> str:
    """SQL: some name, at the top or inside an object, is not in the contract."""
    odd = strange(TEXT, list(fields.items()), names="names")
    return f"not usual and ({' or '.join(f'coalesce(size({n}) > 0, false)' for _, n in odd)})"


def strange(
    text: str, fields: Fields, path: str = "$", names: str = ""
) -> Iterator[tuple[str, str]]:
    """Of a record and each object in it: its path, and SQL for its names that nobody declared."""
    names = names or f"json_object_keys(get_json_object({text}, '{path}'))"
    yield path, f"array_except({names}, array({', '.join(repr(n) for n, _ in fields)}))"
    for name, kind in fields:
        if kind.startswith("struct<"):
            yield from strange(text, members(kind), f"{path}.{name}")
