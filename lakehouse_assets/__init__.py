"""A streaming lakehouse in which every Iceberg table is a Dagster asset written by PySpark.

Sources (`sources/`) produce events to Kafka. Their records become rows, layer by layer, one file
per table:

raw/        every Kafka record, once, good or bad, with its coordinates
staging/    cleaned, typed, one row per event or thing; rows that break a rule are set aside
semantic/   what the events mean: one row per business thing
analytics/  measures and features
marts/      answers, named by entity and grain
metadata/   what the lake says of itself: quarantine, watermarks, check history

Beside the tables `landing/` leaves files for others who read no Iceberg, `serving/` keeps a table
in PostgreSQL for pages, and `pages/` is what people look at in a browser; `lineage/` writes down
each attempt to publish, and follows rows back to Kafka.

`lake/` is the engine that publishes each batch whole or not at all; `topics/` is Kafka's side of
it; `looks/` looks at tables as they stand, `upkeep/` keeps their files few; `orchestration/` shows
tables, rules and offsets to Dagster as assets, checks and sensors; `services/` starts Kafka and
Spark on a laptop;
`definitions.py` puts it all together. To see how a table is made read
`staging/stg_payment_charges.py` first.
"""
