"""The rival of `bench ingest`: confluent-kafka, pyarrow's JSON reader and pyiceberg in one process.

What a good engineer writes in an afternoon when Spark seems too much. It appends batches to a table
of its own with our schema, codec and level. It handles no error (one bad record ends it), has no
progress to resume from, and appends unaudited; that work is on our side of the comparison only.
"""

import argparse
import io
import json
import resource
import time
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.json as pj  # type: ignore[import-untyped]
from confluent_kafka import Consumer, Message, TopicPartition
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table as IcebergTable

from lakehouse_assets import settings
from lakehouse_assets.lake import schema
from lakehouse_assets.lake.bases import COORDINATES
from lakehouse_assets.raw.payment_charges import PaymentCharges

TABLE = "rival.payment_charges"
TAKEN = 10_000  # records by one call of consume
BLOCK_BYTES = 8 << 20  # of JSON, for one of pyarrow's threads
STALLED_S = 60
CONSUMER = {
    "group.id": "rival",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 10,
    "queued.min.messages": 200_000,
    "queued.max.messages.kbytes": 262_144,
}
PROPERTIES = {"write.parquet.compression-codec": "zstd", "write.parquet.compression-level": "1"}


def main() -> None:
    said = _arguments()
    table = _table(said.catalog, said.warehouse)
    columns = table.schema().as_arrow()
    consumer = Consumer(CONSUMER | {"bootstrap.servers": settings.kafka_bootstrap()})
    partitions = consumer.list_topics(said.topic, timeout=10).topics[said.topic].partitions
    wall, cpu = time.perf_counter(), time.process_time()
    consumer.assign([TopicPartition(said.topic, p, 0) for p in partitions])
    left = said.rows
    while left:
        messages = _take(consumer, min(said.batch, left))
        table.append(_parsed(messages, columns, bool(said.coordinates)))
        left -= len(messages)
    figures = {
        "rows": said.rows,
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    consumer.close()
    print(json.dumps(figures))


def _table(catalog: str, warehouse: str) -> IcebergTable:
    opened = SqlCatalog(settings.CATALOG, uri=catalog, warehouse=warehouse)
    opened.create_namespace_if_not_exists(TABLE.split(".")[0])
    wanted = schema.iceberg_schema(PaymentCharges)
    return opened.create_table_if_not_exists(TABLE, wanted, properties=PROPERTIES)


def _take(consumer: Consumer, count: int) -> list[Message]:
    messages: list[Message] = []
    deadline = time.monotonic() + STALLED_S
    while len(messages) < count:
        if time.monotonic() > deadline:
            raise SystemExit(f"rival: no more than {len(messages)} of {count} records came")
        messages += consumer.consume(min(TAKEN, count - len(messages)), timeout=1)
    return messages


def _parsed(messages: list[Message], columns: pa.Schema, coordinates: bool) -> pa.Table:
    wanted = pa.schema([pa.field(f.name, f.type) for f in columns if f.name in _own_fields()])
    parsed = pj.read_json(
        io.BytesIO(b"\n".join([m.value() or b"" for m in messages])),
        read_options=pj.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=pj.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore"),
    )
    known = _coordinates(messages) if coordinates else {}
    arrays = [
        parsed[f.name]
        if f.name in wanted.names
        else pa.array(known[f.name], f.type)
        if f.name in known
        else pa.nulls(len(messages), f.type)
        for f in columns
    ]
    return pa.table(arrays, schema=columns)


def _own_fields() -> set[str]:
    return {name for name in PaymentCharges.columns if name not in COORDINATES}


def _coordinates(messages: list[Message]) -> dict[str, list[Any]]:
    """Where each record came from and when it arrived, as raw has it."""
    count = len(messages)
    hour = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    return {
        "kafka_partition": [m.partition() for m in messages],
        "kafka_offset": [m.offset() for m in messages],
        "topic_generation": [0] * count,
        "arrived_at": [m.timestamp()[1] * 1000 for m in messages],  # ms to µs
        "ingest_hour": [hour] * count,
        "_commit": [1] * count,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kafka to Iceberg in one process, without Spark.")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--coordinates", type=int, choices=(0, 1), required=True)
    parser.add_argument("--catalog", required=True)
    parser.add_argument("--warehouse", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
