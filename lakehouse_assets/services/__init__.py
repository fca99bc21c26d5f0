"""The programs around the lake: Kafka, Spark, Dagster, Postgres, the schema registry, Connect.

A service is one small file with one subclass of `service.Service`: what to run, on which ports, how
to ask whether it is well. What is common (start once, survive kill -9, stop, errors) is the base's.
What does not belong here: tables, events, Dagster, and anything heavy at import.
"""
