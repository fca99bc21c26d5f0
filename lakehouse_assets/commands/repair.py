"""What a person orders on a raw table: go on after lost records, parse set-aside records again.

Both are batches like any other: written to a branch, judged, published by compare-and-swap, and
made again from the new head when another batch came first.
"""

from typing import TYPE_CHECKING

from lakehouse_assets.lake import scope, versions
from lakehouse_assets.lake.advance import once
from lakehouse_assets.lake.contract import CHECKPOINT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, Published
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.topics.kafka import Kafka
from lakehouse_assets.topics.parse import NONE_YET, parse
from lakehouse_assets.topics.position import Gap, find_gap, progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def accept_gap(lake: Lake, table: LakeTable) -> Gap | None:
    """Move the table's position past what is lost; no row changes. Returns what was given up."""
    kafka = Kafka()
    accepted: list[Gap] = []

    def change(head: Head) -> Change | None:
        accepted[:] = [gap] if (gap := find_gap(head, kafka.topic(table.topic))) else []
        if gap is None:
            return None
        # The hour stays, and with it the tally of that hour: there is nothing to count. That no
        # span is touched tells the children not to look for rows.
        stamp = scope.next_stamp(
            head.stamp, progress=progress(gap.topic, gap.generation, gap.following),
            code=table.code_version(), run=lake.run, at="ingest_hour", ranges=[],
        )  # fmt: skip
        return Change(lake.empty(table.contract), "append", stamp)

    once(lake, table, change)
    return accepted[0] if accepted else None


def replay(lake: Lake, table: LakeTable) -> Published | None:
    """Parse again, with today's contract, every record whose bytes are kept; replace what differs.

    Rows keep their coordinates; their `_commit` moves, so that children see them. A record that
    still does not parse keeps its row. None: there was nothing to change.
    """
    if not table.topic:
        raise ValueError(
            f"{table.name} does not read Kafka: only raw tables keep records to replay"
        )
    lake.catalog.ensure(table.contract)
    return once(lake, table, lambda head: _replayed(lake, table, head))


def _replayed(lake: Lake, table: LakeTable, head: Head) -> Change | None:
    from pyspark.sql import functions as F

    stored = lake.at(head).where("_payload is not null")
    attempt = CHECKPOINT if CHECKPOINT in table.contract.columns else NONE_YET
    again = parse(_as_records(stored, attempt), table, "attempt")
    changed = versions.differences(table.contract, again, stored)
    with lake.phase("scope"):
        spans = scope.spans_of(changed, "ingest_hour")
    if not spans:
        return None
    # The newest tally is of one hour: only that hour's rows may move its counts.
    counts = f"ingest_hour = timestamp'{head.stamp.hour}'" if head.stamp.hour else "false"
    masks = {m: F.expr(f"if({counts}, {m}, 0L)") for m in ("_new", "_old")}
    stamp = scope.next_stamp(
        head.stamp, code=table.code_version(), run=lake.run,
        at="ingest_hour", ranges=scope.as_ranges(spans), corrects=True,
    )  # fmt: skip
    where = scope.within("ingest_hour", spans)
    return Change(changed.withColumns(masks), "merge", stamp, where=where)


def _as_records(stored: "DataFrame", attempt: str) -> "DataFrame":
    """Stored rows as Kafka gave them, and which attempt published them."""
    return stored.selectExpr(
        "kafka_partition as partition", "kafka_offset as offset", "arrived_at as timestamp",
        "_payload as value", "topic_generation", "ingest_hour", f"{attempt} as attempt",
    )  # fmt: skip
