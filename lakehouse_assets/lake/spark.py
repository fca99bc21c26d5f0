"""A Spark Connect session on this lake: cheap to open, started only when somebody asks for data.

The server is shared and knows no lake; the catalog is set on the session. Code in this project
uses only what Spark Connect offers, so that `LAKEHOUSE_SPARK_REMOTE` may name any cluster's
server.
"""

from typing import TYPE_CHECKING, Any, cast

from lakehouse_assets import settings

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_STRUCTS: "dict[str, StructType]" = {}
SESSION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    # Kafka by its newer reader: the older one, the default, turns each record to a Row and back.
    "spark.sql.sources.useV1SourceList": "",
    # The JIT leaves longer methods interpreted: then Spark shall make several of one.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # Constraints inferred from cleaning expressions grow without bound: gigabytes to plan one join.
    "spark.sql.constraintPropagation.enabled": "false",
}


def catalog_conf() -> dict[str, str]:
    """The Iceberg catalog as session settings; SQLite is shared with pyiceberg by waiting."""
    prefix = f"spark.sql.catalog.{settings.CATALOG}"
    path = settings.catalog_uri().removeprefix("sqlite:///")
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        f"{prefix}.uri": f"jdbc:sqlite:{path}?busy_timeout=30000&journal_mode=WAL",
        f"{prefix}.jdbc.schema-version": "V1",
        f"{prefix}.warehouse": settings.warehouse(),
        f"{prefix}.cache-enabled": "false",  # other processes publish too
        "spark.sql.defaultCatalog": settings.CATALOG,
    }


def open_session() -> "SparkSession":
    from lakehouse_assets.services.spark import connect

    session = connect()
    configure(session, SESSION | catalog_conf())
    return session


def configure(session: "SparkSession", conf: dict[str, str]) -> None:
    """Settings of the session, all in one question, where `conf.set` asks once for each."""
    cast(Any, session.conf)._set_all(configs=conf, silent=False)


def struct(session: "SparkSession", columns: str) -> "StructType":
    """What `name type, name type` means; the server is asked once."""
    known = _STRUCTS.get(columns) or session.createDataFrame([], columns).schema
    return _STRUCTS.setdefault(columns, known)


def fetched(frame: "DataFrame") -> "pa.Table":
    """Its rows. `toArrow` first asks for their types, for which the server analyses all of the plan
    that it analyses again to make them.
    """
    table, _ = cast(Any, frame)._to_table()
    return table
