"""The rival of `bench entities`: Splink, which links records in DuckDB and clusters what it linked.

It is given the keys as we have normalized them, and leaves out roles' mailboxes and keys that too
many records share, as we do. It writes nothing, publishes nothing and has no increment. Its answer
is also the second opinion on our grouping.
"""

import logging
from typing import Any

from lakehouse_assets.semantic.contact import ROLES
from lakehouse_assets.semantic.matching import CAPS

NAME = "Splink on DuckDB: deterministic links by the keys that we normalized, clustered"
COLUMNS = ("source", "source_id", "entity_id", "email_normalized", "phone_normalized")
PEOPLE = """
create table people as select unique_id, entity_id,
    if(count(*) over (partition by email) <= {email}, email, null) as email,
    if(count(*) over (partition by phone) <= {phone}, phone, null) as phone
from (
    select concat_ws('/', source, source_id) as unique_id, entity_id, phone_normalized as phone,
        if(split_part(email_normalized, '@', 1) in {roles}, null, email_normalized) as email
    from records)
"""


def groups(records: Any) -> tuple[int, int, int]:
    """Of an Arrow table with these columns: how many groups Splink finds, how many entities it
    has, and how many of either meet; all the same if both group alike.
    """
    import duckdb
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[block_on(key) for key in CAPS],
    )
    with duckdb.connect() as db:
        db.register("records", records)
        db.execute(PEOPLE.format(roles=ROLES, **CAPS))
        people = DuckDBAPI(db).register("people")
        linker = Linker(people, settings, log_level=logging.WARNING)
        pairs = linker.inference.deterministic_link()
        found = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs)
        told = db.execute(
            "select count(distinct cluster_id), count(distinct entity_id), "
            f"count(distinct (cluster_id, entity_id)) from {found.physical_name}"
        ).fetchone()
    theirs, ours, both = told or (0, 0, 0)
    return theirs, ours, both
