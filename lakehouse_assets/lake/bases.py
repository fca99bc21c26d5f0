"""What raw and staging tables have beside their own columns: where a record came from, when, and
what was wrong with it.
"""

from typing import ClassVar

from lakehouse_assets.lake.contract import Rule, Table, column


class RawTable(Table):
    """Base of raw contracts.

    Every field is nullable: raw keeps every record, good or bad, and only measures. Fields that
    `also` names may be there and have no column: then all of the record is kept as it came. None:
    any other field may be there. `codec`: json, avro by a schema registry, or avro-file: nothing
    but Avro by `schema_file`, a path in the repository.
    """

    codec: ClassVar[str] = "json"
    schema_file: ClassVar[str] = ""
    also: ClassVar[tuple[str, ...] | None] = ()
    kafka_partition = column("int", "Kafka partition the record came from.", key=True)
    kafka_offset = column("bigint", "Its offset there.", key=True)
    topic_generation = column(
        "int", "Which incarnation of the topic: 0, and one more for each re-creation.", key=True
    )
    arrived_at = column("timestamp", "Kafka's time of the record, UTC.")
    ingest_hour = column(
        "timestamp", "Kafka's hour of arrival, UTC: partition here and in Dagster."
    )
    _loaded_at = column("timestamp", "When this table took it in, UTC.", nullable=True)
    # `_error` and `_payload` are bookkeeping: they say nothing a rebuild would not say again.
    _error = column(
        "string", "Why the record's fields are NULL; NULL for a good one.", nullable=True
    )
    _payload = column(
        "binary",
        "The record's bytes: of bad ones, and of those with fields that have no column.",
        nullable=True,
        pii=True,
    )

    @classmethod
    def fields(cls) -> dict[str, str]:
        """What a record has of its own: Spark's types by the names in the record."""
        own = {n: c for n, c in cls.columns.items() if n not in COORDINATES and not c.made}
        return {c.field or n: c.type for n, c in own.items()}

    @classmethod
    def all_rules(cls) -> tuple[Rule, ...]:
        kind = "JSON" if cls.codec == "json" else "Avro"
        doc = f"valid {kind} with the right types"
        parses = Rule("parses", "_error is null", doc, threshold=0.05)
        return (parses, *cls.rules)


class KeyedTable(RawTable):
    """Base of raw contracts of reference topics, whose records replace each other by key."""

    kafka_key = column("string", "The record's key.", nullable=True)
    is_deletion = column("boolean", "A null value: the key is no more.")


class SpelledTable(RawTable):
    """Base of raw contracts whose files others find by their paths, `year=2026/month=02/…`; and
    whose rows say which attempt published them.
    """

    kafka_topic = column("string", "The topic it came from.", made="topic")
    checkpoint_id = column(
        "bigint", "The attempt that published it; those that failed are gaps.",
        made="attempt",
    )  # fmt: skip
    year = column("string", "Of `ingest_hour`, UTC.", made="date_format(ingest_hour, 'yyyy')")
    month = column("string", "01 to 12.", made="date_format(ingest_hour, 'MM')")
    day = column("string", "01 to 31.", made="date_format(ingest_hour, 'dd')")
    hour = column("string", "00 to 23.", made="date_format(ingest_hour, 'HH')")
    commit_log: ClassVar[bool] = True


class StagingTable(Table):
    """Base of staging contracts: rows that break a rule are set aside, and each says where it came
    from. `of`: which of the raw table's good records it is made of, in SQL that is never NULL.
    """

    of: ClassVar[str] = "true"
    refuses = True
    arrived_at = column("timestamp", "When Kafka first received this version, UTC.")
    _record = column(
        "struct<ingest_hour:timestamp,topic_generation:int,"
        "kafka_partition:int,kafka_offset:bigint>",
        "The raw row it was made from.",
        nullable=True,
    )


# What a staging transform selects last: `F.expr(RECORD)`.
RECORD = "struct(ingest_hour, topic_generation, kafka_partition, kafka_offset) as _record"
COORDINATES = tuple(KeyedTable.columns)  # what the engine adds to a record's own fields
