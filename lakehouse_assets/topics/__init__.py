"""Kafka's side of raw tables: what a topic holds, where a table stands in it, how a record reads.

Nothing is published here; `lake/ingest.py` makes commits of it. Bounded, read-committed, and never
a consumer group: progress is the table's own.
"""
