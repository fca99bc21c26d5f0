"""metadata.incremental_watermarks: one row per table and source it reads, with how far it has read.

For people. Nothing reads it to decide: progress rides in each table's own newest commit, where
it is atomic with the rows. It is taken from there, so it can lag but never disagree.
"""

import json
from datetime import datetime, timezone

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_all
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.table import Told, metadata_table


class IncrementalWatermarks(Table):
    source_table = column("string", "What is read: a table, or `kafka.<topic>`.", key=True)
    pipeline_name = column("string", "The table that reads it.", key=True)
    last_sync_timestamp = column("timestamp", "When it last published, UTC.")
    records_processed = column(
        "bigint", "Rows read by all its batches since it was made; if computed, rows written.", ge=0
    )
    position = column("string", "Offsets or commit it has read up to, as JSON.")
    updated_at = column("timestamp", "The same moment; the seed asks for both.")

    layout = Layout(scope=recompute_all())


def watermarks(heads: dict[str, Head], _: dict[str, int]) -> list[Told]:
    return [_row(head, source) for head in heads.values() for source in head.stamp.progress_of()]


def _row(head: Head, source: str) -> Told:
    moment = datetime.fromtimestamp(head.published_ms / 1000, timezone.utc)
    return {
        "source_table": source,
        "pipeline_name": head.name,
        "last_sync_timestamp": moment,
        "records_processed": head.tallies[0].get("processed", 0) if head.tallies else 0,
        "position": json.dumps(head.stamp.progress_of()[source]),
        "updated_at": moment,
    }


incremental_watermarks = metadata_table(IncrementalWatermarks, watermarks)
