"""semantic.entity_resolution_stats: one row per run of the resolution that changed something.

How much was new, what was compared, what came of it and how long it took. `blocks` and all that
follows are of the blocks in which some record is new, changed or gone. Rows are added once and
never changed; if the resolution ran more than once since the last look, they tell of all of it.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, append_only, column
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.blocking_index import blocking_index
from lakehouse_assets.semantic.entity_changes import moved
from lakehouse_assets.semantic.entity_index import EntityIndex, entity_index
from lakehouse_assets.semantic.matching import BLOCK, RECORD, links, too_many


class EntityResolutionStats(Table):
    run_number = column("bigint", "The batch of semantic.entity_index.", key=True, ge=1)
    at = column("timestamp", "When it was resolved, UTC.")
    records = column("bigint", "Records there are.", ge=0)
    new = column("bigint", "Records that were not there before.", ge=0)
    changed = column("bigint", "Records that were, and changed or moved.", ge=0)
    blocks = column("bigint", "Blocks that were looked at.", ge=0)
    comparisons = column("bigint", "Pairs of records in those of them that link.", ge=0)
    matches_by_email = column("bigint", "Records there beyond the first of a mailbox.", ge=0)
    matches_by_phone = column("bigint", "The same of a number.", ge=0)
    merges = column("bigint", "Entities that became another.", ge=0)
    splits = column("bigint", "Entities that lost records to others and go on.", ge=0)
    capped_blocks = column("bigint", "Blocks of more records than may link.", ge=0)
    seconds = column("double", "From the first look at the news to publishing.", ge=0)

    layout = Layout(scope=append_only())


def transform(
    entities: DataFrame, entities_new: DataFrame, entities_old: DataFrame, blocks: DataFrame,
    blocks_new: DataFrame, blocks_old: DataFrame, batches: DataFrame,
) -> DataFrame:  # fmt: skip
    runs = batches.where(f"table = '{EntityIndex.name}'").agg(
        F.max("commit").alias("run_number"), F.max("at").alias("at"),
        F.round(F.sum("seconds"), 2).alias("seconds"),
    ).where("run_number is not null")  # fmt: skip
    was = entities_old.select(*RECORD, F.lit(True).alias("was"))
    news = entities_new.join(was, RECORD, how="left").agg(
        F.count_if(F.col("was").isNull()).alias("new"), F.count("was").alias("changed")
    )
    moves = moved(entities, entities_new, entities_old).agg(*[
        F.expr(f"count(distinct case when reason = '{reason}' then entity_id end) as {name}")
        for reason, name in (("merged", "merges"), ("split", "splits"))
    ])  # fmt: skip
    looked_at = blocks_new.select(*BLOCK).unionByName(blocks_old.select(*BLOCK))
    sizes = blocks.groupBy(*BLOCK).agg(F.max("block_size").alias("size"))
    of_blocks = sizes.join(looked_at, BLOCK, how="left_semi").agg(
        F.count(F.lit(1)).alias("blocks"),
        _sum(f"if({links('size')}, size * (size - 1) / 2, 0)", "comparisons"),
        _sum(f"if({links('size')} and key_type = 'email', size - 1, 0)", "matches_by_email"),
        _sum(f"if({links('size')} and key_type = 'phone', size - 1, 0)", "matches_by_phone"),
        F.expr(f"count_if({too_many('size')})").alias("capped_blocks"),
    )
    total = entities.agg(F.count(F.lit(1)).alias("records"))
    told = runs
    for part in (total, news, moves, of_blocks):
        told = told.join(part, how="cross")
    return told.select(*EntityResolutionStats.columns)


def _sum(what: str, name: str) -> Column:
    return F.expr(f"cast(coalesce(sum({what}), 0) as bigint)").alias(name)


entity_resolution_stats = table_asset(
    EntityResolutionStats, transform, entities=entity_index, blocks=blocking_index
)
