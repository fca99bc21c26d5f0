"""Plain Avro events: a uuid and a time, by a schema file, as a stream whose way is to be traced.

Records bear no schema id: who reads them must know the file `deploy/schemas/input_event.avsc`.
Events are a function of the arguments alone. What raw must hold after them is told by `truth`.
"""

from datetime import datetime, timezone

from lakehouse_assets.sources.lineage.dirt import TOPIC, Dirt
from lakehouse_assets.sources.lineage.events import INTERVAL, PARTITIONS, events

__all__ = ["FEEDS", "FIRST_DAY", "INTERVAL", "PARTITIONS", "TOPIC", "Dirt", "events"]

FEEDS: tuple[str, ...] = ()  # it is sent whole
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
