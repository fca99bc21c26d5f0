"""The engine. It knows no table: contracts come in, published Iceberg commits come out.

Read in this order: contract (what a table is), table (a contract with its transform and
parents), catalog (heads, branches, compare-and-swap), quality (rules), publish (one batch, whole
or not at all), ingest (Kafka to raw), news, scope, derive and recompute (parents to children),
advance (the loop). `topics/` is Kafka's side of it; `orchestration/` shows it all to Dagster, which
the engine does not know.
"""
