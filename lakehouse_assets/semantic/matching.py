"""Which records are one person's: those that share a key, and those linked to them in turn.

Records come and change a few at a time, and only they are looked at again, with all that hangs
together with them: the blocks that they lie in or lay in, the entities of these blocks' records,
and the other records of those entities. Beyond that nothing can change, since a link to a record
outside would have made it one of them before. So the grouping equals that of all records at once.

A block is all records that share a key. One with more than CAPS records links nobody: it belongs to
a firm or a family.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.semantic.contact import personal

CAPS = {"email": 10, "phone": 4}  # records
RECORD, BLOCK = ["source", "source_id"], ["key_type", "blocking_key"]
MAX_ROUNDS = 100  # of two steps from record to record within one entity
FEW = 100_000  # fresh records that every task can have, so that the others need not be moved
Sent = Callable[[DataFrame], DataFrame]


def blocks(records: DataFrame, *more: str) -> DataFrame:
    """One row per record and block that it lies in."""
    keys = (
        f"array(struct('email' as key_type, {personal('email_normalized')} as blocking_key), "
        "struct('phone' as key_type, phone_normalized as blocking_key))"
    )
    each = records.selectExpr(*RECORD, *more, f"inline({keys})")
    return each.where("blocking_key is not null")


def cap() -> str:
    """SQL: how many records a block may have to link them."""
    each = " ".join(f"when '{kind}' then {records}" for kind, records in CAPS.items())
    return f"case key_type {each} end"


def links(size: str) -> str:
    """SQL: a block of this size links its records."""
    return f"({size} between 2 and {cap()})"


def too_many(size: str) -> str:
    """SQL: so many records share the key that it tells nobody."""
    return f"({size} > {cap()})"


def grouped(here: DataFrame, fresh: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The records that the fresh ones can have moved, each with its `entity_id` and how it hangs
    together with others (`_by_email`, `_by_phone`); and the rows of `here` in whose place.

    `fresh`: new versions of some records, or that they are no more (`is_deleted`). They come on top
    of the rows of `here` that say so (`_counts`); the others tell nothing but what a record was
    called.
    """
    names = here.where("not _counts").select(*RECORD, F.col("entity_id").alias("_was"))
    here, fresh = here.where("_counts").drop("_counts"), fresh.localCheckpoint()
    sent = F.broadcast if fresh.count() <= FEW else _as_it_is
    alive = fresh.where("not is_deleted").drop("is_deleted")
    standing = _touched(here, fresh, alive, sent).localCheckpoint()
    stay = standing.join(sent(fresh), RECORD, how="left_anti")
    before = names.unionByName(standing.select(*RECORD, F.col("entity_id").alias("_was")))
    content = [c for c in alive.columns if c in stay.columns]
    records = alive.select(content).unionByName(stay.select(content))
    numbered = records.withColumn("node", F.monotonically_increasing_id())
    known = numbered.join(before, RECORD, how="left").localCheckpoint()
    stars = _stars(here, fresh, known, sent).localCheckpoint()
    named = _named(known, _components(stars))
    how = stars.groupBy("node").agg(
        *[F.expr(f"bool_or(key_type = '{kind}')").alias(f"_by_{kind}") for kind in CAPS]
    )
    told = named.join(how, "node", how="left").drop("node")
    return told.fillna(False, [f"_by_{kind}" for kind in CAPS]), standing


def _as_it_is(frame: DataFrame) -> DataFrame:
    return frame


def _touched(here: DataFrame, fresh: DataFrame, alive: DataFrame, sent: Sent) -> DataFrame:
    """The rows of all entities that the fresh records belong to, or share a block with."""
    gone = here.join(sent(fresh), RECORD, how="left_semi").localCheckpoint()
    in_news = blocks(alive).unionByName(blocks(gone)).select(*BLOCK).distinct()
    said = fresh.select(*RECORD, F.lit(True).alias("_said"))
    beside = blocks(here, "entity_id").join(sent(in_news), BLOCK, how="left_semi")
    beside = beside.join(sent(said), RECORD, how="left")
    new = blocks(alive).groupBy(*BLOCK).agg(F.count(F.lit(1)).alias("_new"))
    sized = beside.groupBy(*BLOCK).agg(
        F.count(F.lit(1)).alias("_old"), F.count_if(F.col("_said").isNull()).alias("_others"),
        F.collect_set("entity_id").alias("entities"),
    ).join(new, BLOCK, how="left")  # fmt: skip
    after = "(_others + coalesce(_new, 0))"
    linking = sized.where(f"{links('_old')} or {links(after)}")
    entities = linking.selectExpr("explode(entities) as entity_id").unionByName(
        gone.select("entity_id")
    )
    return here.join(sent(entities.distinct()), "entity_id", how="left_semi")


def _stars(here: DataFrame, fresh: DataFrame, records: DataFrame, sent: Sent) -> DataFrame:
    """Of the records' blocks that link each record, and the least of its block. A block is as large
    as all records there are make it.
    """
    lie, looked_at = blocks(records, "node"), fresh.select(*RECORD).unionByName(
        records.select(*RECORD)
    )
    others = here.join(sent(looked_at), RECORD, how="left_anti")
    outside = blocks(others, "cast(null as bigint) as node").join(
        sent(lie.select(*BLOCK)), BLOCK, how="left_semi"
    )
    in_block = Window.partitionBy(*BLOCK)
    sized = lie.unionByName(outside).withColumns({
        "size": F.count(F.lit(1)).over(in_block), "least": F.min("node").over(in_block),
    })  # fmt: skip
    linking = sized.where(f"node is not null and {links('size')}")
    return linking.select("node", "least", "key_type")


def _components(stars: DataFrame) -> DataFrame:
    """Each linked record and the least number among those that it is linked to, however far."""
    there = stars.where("node != least").select("node", "least")
    edges = there.unionByName(there.selectExpr("least as node", "node as least"))
    found = stars.groupBy("node").agg(F.min("least").alias("group"))
    for _ in range(MAX_ROUNDS):
        found = _step(_step(found, edges), edges).localCheckpoint()
        if not found.where("group != had").limit(1).collect():  # the last step told nobody anything
            return found.drop("had")
    raise ArithmeticError(f"an entity whose records are over {2 * MAX_ROUNDS} steps apart")


def _step(found: DataFrame, edges: DataFrame) -> DataFrame:
    """Everybody hears what their neighbours have found; `had`: what they had found themselves."""
    near = edges.join(found, "node", how="inner").select(F.col("least").alias("node"), "group")
    own = found.select("node", "group", F.col("group").alias("had"))
    heard = own.unionByName(near, allowMissingColumns=True).groupBy("node")
    return heard.agg(F.min("group").alias("group"), F.max("had").alias("had"))


def _named(records: DataFrame, components: DataFrame) -> DataFrame:
    """Each record's entity. An entity lives on in the component that has most of its records; of
    several that meet in one, the one with most records there gives its name; else a new one is
    made up, once, which tells nothing.
    """
    each = records.join(components, "node", how="left").withColumn(
        "group", F.coalesce("group", "node")
    )
    votes = each.where("_was is not null").groupBy("group", "_was").agg(
        F.count(F.lit(1)).alias("n"), F.min(F.struct(*RECORD)).alias("first")
    )
    of_entity = Window.partitionBy("_was").orderBy(F.desc("n"), "first")
    of_group = Window.partitionBy("group").orderBy(F.desc("n"), "_was")
    heirs = votes.withColumn("place", F.row_number().over(of_entity)).where("place = 1")
    claims = heirs.withColumn("place", F.row_number().over(of_group)).where("place = 1")
    new = F.concat(F.lit("ent_"), F.replace(F.uuid(), F.lit("-"), F.lit("")))
    kept = claims.select("group", F.col("_was").alias("entity_id"))
    groups = each.select("group").distinct().join(kept, "group", how="left")
    names = groups.withColumn("entity_id", F.coalesce("entity_id", new)).localCheckpoint()
    return each.join(names, "group", how="inner").drop("group", "_was")
