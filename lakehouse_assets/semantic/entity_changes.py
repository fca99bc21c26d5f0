"""semantic.entity_changes: one row per entity that others' records joined or left, and what became
of it.

Who kept an `entity_id` looks it up here: `merged`: it is no more, its records are `became`'s now;
`split`: it goes on, and `became` has some of its records; `gone`: its last record was deleted. Rows
are added once and never changed. If the resolution ran more than once since the last look, they
tell what came of it all. How records come together is not decided here.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Table, append_only, column
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets.semantic.matching import RECORD

REASONS = ("merged", "split", "gone")


class EntityChanges(Table):
    entity_id = column("string", "The entity that lost records.", key=True)
    became = column("string", "Whose they are now; NULL: nobody's.", key=True, nullable=True)
    reason = column("string", "merged, split or gone.", isin=REASONS)
    records = column("bigint", "How many records.", ge=1)
    at = column("timestamp", "When it was resolved, UTC.", key=True)

    layout = Layout(scope=append_only())


def transform(
    entities: DataFrame, entities_new: DataFrame, entities_old: DataFrame, batches: DataFrame
) -> DataFrame:
    when = batches.agg(F.max("at").alias("at"))
    moves = moved(entities, entities_new, entities_old)
    return moves.join(when, how="cross").select("entity_id", "became", "reason", "records", "at")


def moved(entities: DataFrame, new: DataFrame, old: DataFrame) -> DataFrame:
    """Each entity that lost records, whose they became, why and how many."""
    now = new.select(*RECORD, F.col("entity_id").alias("became"))
    left = old.join(now, RECORD, how="left").where("became is null or became != entity_id")
    parts = left.groupBy("entity_id", "became").agg(F.count(F.lit(1)).alias("records"))
    lives = entities.groupBy("entity_id").agg(F.lit(True).alias("lives"))
    known = parts.join(lives, "entity_id", how="left").withColumn(
        "heirs", F.count("became").over(Window.partitionBy("entity_id"))
    )
    told = known.where("became is not null or (lives is null and heirs = 0)")
    reason = "case when became is null then 'gone' when lives then 'split' else 'merged' end"
    return told.withColumn("reason", F.expr(reason))


entity_changes = table_asset(EntityChanges, transform, entities=entity_index)
