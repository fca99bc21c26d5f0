"""semantic.blocking_index: one row per key by which records are matched and record that has it.

Who else has this mailbox or this number, and which entity are they? A block of more records than a
person has (`matching.CAPS`) links nobody; its `block_size` stays at one more than that, or each new
record would rewrite all of the block. Roles' mailboxes are no keys. Nothing is decided here.

The scope cannot prune: a key says nothing about where its records lie, so each batch reads the keys
of all records.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.entity_index import SOURCES, entity_index
from lakehouse_assets.semantic.matching import BLOCK, CAPS, blocks, cap


class BlockingIndex(Table):
    blocking_key = column("string", "The mailbox, or the number in E.164.", key=True, pii=True)
    key_type = column("string", "What it is.", key=True, isin=tuple(CAPS))
    entity_id = column("string", "The person whose record it is.")
    source = column("string", "Whose record it is.", key=True, isin=SOURCES)
    source_id = column("string", "The record's id there.", key=True)
    block_size = column("int", "Records that have the key, counted up to one too many.", ge=1)

    layout = Layout(
        scope=recompute_keys(by=("key_type", "blocking_key"), was=True),
        unique_text=("blocking_key", "source_id"),
    )


def transform(entities: DataFrame) -> DataFrame:
    records = F.count(F.lit(1)).over(Window.partitionBy(*BLOCK))
    sized = blocks(entities, "entity_id").withColumn("records", records)
    size = F.expr(f"cast(least(records, {cap()} + 1) as int)")
    return sized.select(
        "blocking_key", "key_type", "entity_id", "source", "source_id", size.alias("block_size")
    )


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    return blocks(news).select("key_type", "blocking_key")


blocking_index = table_asset(BlockingIndex, transform, mentions=mentions, entities=entity_index)
