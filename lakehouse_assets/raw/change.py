"""What the raw tables of change data capture share: Debezium's envelope around a row."""

from typing import Any, ClassVar

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Rule, column

OPS = ("c", "u", "d", "r", "t")  # created, updated, deleted, read by a snapshot, truncated
ORIGIN = (
    "struct<version:string,connector:string,name:string,ts_ms:bigint,ts_us:bigint,ts_ns:bigint,"
    "snapshot:string,db:string,sequence:string,schema:string,table:string,txId:bigint,lsn:bigint,"
    "xmin:bigint,origin:string,origin_lsn:bigint>"
)
COMMITTED = "timestamp_millis(source.ts_ms)"


class ChangeTable(RawTable):
    """Base of raw contracts of captured tables. `row` is the table's row as the capture sends it:
    `id bigint, …`. A change is kept as it came; a null value tells Kafka's compaction that the
    key's changes may go, and nothing else.
    """

    codec: ClassVar[str] = "avro"
    row: ClassVar[str] = ""

    op = column("string", "c created, u updated, d deleted, r read by a snapshot, t truncated.")
    ts_ms = column("bigint", "When the capture handled it, milliseconds since 1970.")
    ts_us = column("bigint", "The same in microseconds.")
    ts_ns = column("bigint", "The same in nanoseconds.")
    transaction = column(
        "struct<id:string,total_order:bigint,data_collection_order:bigint>",
        "The transaction it is of, and its place there; NULL in a snapshot.",
    )
    source = column(ORIGIN, "Where in the database's log it stands.")
    is_deletion = column("boolean", "A null value, which follows a deletion.")

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("op_known", f"op in {OPS}", "one of five operations"),
        Rule(
            "says_what_was_and_is",
            "case op when 'c' then after is not null when 'r' then after is not null"
            " when 'd' then before is not null"
            " when 'u' then before is not null and after is not null end",
            "a change tells the row before, after or both",
        ),
        Rule(
            "arrives_soon",
            f"source.snapshot != 'false' or arrived_at <= {COMMITTED} + interval 1 minute",
            "a change is captured within a minute of its commit",
            0.05,
        ),
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if cls.row:
            fields = ",".join(part.strip().replace(" ", ":", 1) for part in cls.row.split(", "))
            for name, doc in (("before", "before"), ("after", "after")):
                setattr(cls, name, column(f"struct<{fields}>", f"The row {doc} it.", pii=True))
        super().__init_subclass__(**kwargs)
