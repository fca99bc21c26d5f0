"""raw.lineage_events: one row per record of the Kafka topic `lineage-input`.

Each row says where in Kafka it came from and which attempt published it, and its files lie in
folders by year, month, day and hour of ingest: so a file leads to its records, a record to its
file, by paths and logs alone, without asking Iceberg. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.bases import SpelledTable
from lakehouse_assets.lake.contract import Layout, column
from lakehouse_assets.lake.table import raw_table


class LineageEvents(SpelledTable):
    uuid = column("string", "The event's id.")
    timestamp = column("bigint", "When it was made, milliseconds since 1970, UTC.")

    layout = Layout(partitioned_by="year, month, day, hour", unique_text=("uuid",))
    codec = "avro-file"
    schema_file = "deploy/schemas/input_event.avsc"


lineage_events = raw_table(LineageEvents, topic="lineage-input", group="lineage")
