"""metadata.quarantine: one row per Kafka record that was set aside, and why.

Two ways lead here: a record that could not be parsed (raw keeps its bytes), and one that a
staging rule refused (raw keeps its fields). It is derived: a record that is replayed after a fix
leaves it by itself. It holds no payload, so nothing private; `lakehouse quarantine show` reads
that from raw.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets import raw, staging
from lakehouse_assets.lake.bases import StagingTable
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import LakeTable, discover, table_asset
from lakehouse_assets.lake.versions import refusals


def _watched() -> dict[str, tuple[LakeTable, list[LakeTable]]]:
    """Every raw table, and the staging tables that are made of it, by its short name."""
    found: dict[str, tuple[LakeTable, list[LakeTable]]] = {
        name.split(".")[1]: (table, []) for name, table in discover([raw]).items()
    }
    taken = set[tuple[str, str]]()
    for child in discover([staging]).values():
        if issubclass(child.contract, StagingTable):
            (parent,) = child.parents.values()
            share = parent.name, child.contract.of
            if share in taken:  # a record is listed once: it cannot have two verdicts
                raise ValueError(f"{child.name} and another table refuse rows of {parent.name}")
            taken.add(share)
            found[parent.name.split(".")[1]][1].append(child)
    return found


WATCHED = _watched()
COORDINATES = ("ingest_hour", "topic_generation", "kafka_partition", "kafka_offset")


class Quarantine(Table):
    source_table = column("string", "The raw table that has the record.", key=True)
    topic_generation = column("int", "Incarnation of its topic.", key=True)
    kafka_partition = column("int", "Its partition.", key=True)
    kafka_offset = column("bigint", "Its offset.", key=True)
    ingest_hour = column("timestamp", "Its hour in raw, UTC.")
    arrived_at = column("timestamp", "When Kafka received it, UTC.")
    stage = column("string", "Where it was set aside.", isin=("parse", "staging"))
    refused_by = column("string", "The staging table that refused it.", nullable=True)
    reason = column("string", "What was wrong: a parse error, or the rules that it broke.")

    layout = Layout(partitioned_by="days(ingest_hour)", scope=recompute_keys(at="ingest_hour"))


def transform(**records: DataFrame) -> DataFrame:
    set_aside = [part for name, frame in records.items() for part in _set_aside(name, frame)]
    union = set_aside[0]
    for part in set_aside[1:]:
        union = union.unionAll(part)
    return union.select(*Quarantine.columns)


def _set_aside(name: str, frame: DataFrame) -> list[DataFrame]:
    table, children = WATCHED[name]
    unparsed = frame.where("_error is not null").select(
        *COORDINATES, "arrived_at", F.col("_error").alias("reason"),
        F.lit("parse").alias("stage"), F.lit(None).cast("string").alias("refused_by"),
    )  # fmt: skip
    refused = [
        refusals(child, frame).select(
            *[f"_record.{c}" for c in COORDINATES], "arrived_at", "reason",
            F.lit("staging").alias("stage"), F.lit(child.name).alias("refused_by"),
        )
        for child in children
    ]  # fmt: skip
    source = F.lit(table.name)
    return [part.withColumn("source_table", source) for part in (unparsed, *refused)]


def mentions(name: str, records: DataFrame, _: dict[str, DataFrame]) -> DataFrame:
    """A record that is good now must still be looked at: it may have been set aside before."""
    return records.select(F.lit(WATCHED[name][0].name).alias("source_table"), *COORDINATES)


quarantine = table_asset(
    Quarantine,
    transform,
    group="metadata",
    mentions=mentions,
    rebuilt_with=tuple(child for _, children in WATCHED.values() for child in children),
    **{name: table for name, (table, _) in WATCHED.items()},
)
