"""What the tests of raw webhooks share: records as the door makes them, read by a raw table."""

import json
from datetime import datetime, timezone
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.sources.webhooks.records import record
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.topics.records import parsed

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
OURS = {"_webhook_topic": "t", "_webhook_id": "w-1", "_received_at": "2026-05-04T12:00:00.000Z"}
CAME: Row = {"_webhook_topic": "t", "_webhook_id": "w-1", "_received_at": NOON}


def read(lake: Lake, table: LakeTable, *said: Any, vendor: str = "") -> list[Row]:
    """The rows of bodies that came through the door."""
    ours = ({"_vendor": vendor} if vendor else {}) | OURS
    return parsed(lake, table, *[record(ours, json.dumps(one).encode()) for one in said])


def has_columns_for_all(lake: Lake, table: LakeTable, said: Row) -> None:
    """Each column has a value of the record, and only what is known without a column is left."""
    (row,) = read(lake, table, said)
    assert row["_error"] is None
    fields = {c.field or n: n for n, c in table.contract.columns.items()}
    for field, value in said.items():
        if field in fields and value is not None:
            assert row[fields[field]] is not None, field
    assert (row["_webhook_id"], row["_received_at"]) == ("w-1", NOON)
