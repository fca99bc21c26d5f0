"""A captured table with records in Kafka, and its files as somebody reads them who knows only Avro:
no name of ours, no Spark.
"""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import fastavro
import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.schema import members
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.raw.change import ORIGIN
from lakehouse_assets.raw.storefront_orders import StorefrontOrders
from lakehouse_assets.topics import registry
from lakehouse_assets.topics.kafka import HOUR, hour_of, now
from lakehouse_assets.topics.registry import Written
from lakehouse_assets_tests.raw.shop import envelope
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send
from lakehouse_assets_tests.topics.test_avro import spoken

Row = dict[str, Any]

EARLIER = hour_of(now()) - 3 * HOUR
ROW = dict.fromkeys(dict(members(StorefrontOrders.columns["after"].type)))
PLACE = dict.fromkeys(dict(members(ORIGIN)))


class Orders:
    """raw.storefront_orders, read from a topic of the test's own."""

    def __init__(self, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table: LakeTable = notes(make_topic(topic, timestamps="producer"), StorefrontOrders)
        self.schema = envelope(self.table)
        self.written = [Written(5, json.dumps(self.schema))]
        monkeypatch.setattr(registry, "versions", lambda topic: self.written)

    def change(self, id: int, op: str = "c", **row: Any) -> bytes:
        origin = PLACE | {"lsn": id, "txId": 3, "table": "orders"}
        after = ROW | {"id": id} | row
        return spoken(5, self.schema, {"after": after, "op": op, "ts_ms": 7, "source": origin})

    def send(self, *values: bytes | None, at: datetime | None = None) -> None:
        send(self.table.topic, *values, at=at)

    def arrive(self, lake: Lake, *values: bytes | None, at: datetime | None = None) -> None:
        """Sent, and taken by the raw table."""
        self.send(*values, at=at)
        ingest(lake, self.table)

    @property
    def folder(self) -> Path:
        return Path(settings.landing()) / "raw" / self.table.topic

    def read(self) -> Iterator[Row]:
        """All that anybody finds who takes every Avro file under the topic's folder."""
        for path in sorted(self.folder.glob("**/*.avro")):
            with path.open("rb") as file:
                yield from fastavro.reader(file)

    def places(self) -> "Counter[tuple[int, int, int]]":
        """Where in Kafka the records are that the files hold."""
        return Counter(
            (r["kafka"]["generation"], r["kafka"]["partition"], r["kafka"]["offset"])
            for r in self.read()
        )

    def ids(self) -> list[int]:
        return sorted(r["after"]["id"] for r in self.read())
