"""semantic.entity_index: one row per record of a person in a vendor's system, and whose it is.

Two records are one person's if their e-mails are the same mailbox or their phones the same number,
and so are those that are linked to them in turn; which spellings are the same is said in `contact`,
which keys are shared by too many to tell a person in `matching`. Who was deleted is not there.

An `entity_id` stays with the people it was made for: of two entities that become one the larger
gives its name, of one that falls apart the larger part keeps it (`entity_changes` tells). The
grouping depends on the records alone, the ids on the order in which they came, too. Looking for
who else has a key reads all records' keys, which cannot prune; everything after it can.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Across, Layout, Rule, Table, column, own_rows
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.contact import normalized
from lakehouse_assets.semantic.matching import grouped
from lakehouse_assets.staging.stg_hubspot_contacts import stg_hubspot_contacts
from lakehouse_assets.staging.stg_shopify_customers import stg_shopify_customers
from lakehouse_assets.staging.stg_stripe_customers import stg_stripe_customers

SOURCES = ("shopify", "stripe", "hubspot")
PEOPLE = {  # the staging table of each source, and its key
    "shopify": ("staging.stg_shopify_customers", "customer_id"),
    "stripe": ("staging.stg_stripe_customers", "customer_id"),
    "hubspot": ("staging.stg_hubspot_contacts", "contact_id"),
}


class EntityIndex(Table):
    entity_id = column("string", "The person; keeps its name as records come and go.")
    source = column("string", "Whose record it is.", key=True, isin=SOURCES)
    source_id = column("string", "The record's id there.", key=True)
    email = column("string", "As it stands there.", nullable=True, pii=True)
    email_normalized = column("string", "The mailbox that is meant.", nullable=True, pii=True)
    phone = column("string", "As it stands there.", nullable=True, pii=True)
    phone_normalized = column("string", "The number in E.164.", nullable=True, pii=True)
    first_name = column("string", "Given name.", nullable=True, pii=True)
    last_name = column("string", "Family name.", nullable=True, pii=True)
    full_name = column("string", "Both, or the source's name for them.", nullable=True, pii=True)
    match_confidence = column(
        "decimal(5,2)",
        "Of the record's being this person's. 1.00: it is their only one, or e-mail and phone both "
        "say so; 0.95: only the e-mail does; 0.90: only the phone, which people share more often.",
    )
    created_at = column("timestamp", "When the source made the record, UTC.", nullable=True)
    updated_at = column("timestamp", "When the source last changed it, UTC.", nullable=True)

    layout = Layout(scope=own_rows(), unique_text=("source_id", "email", "phone"))
    rules = (
        Rule("phone_is_e164", "phone_normalized rlike '^[+][1-9][0-9]{7,14}$'", "E.164"),
        Rule("confidence_known", "match_confidence in (0.90, 0.95, 1.00)", "one of three"),
    )
    across = (
        Across(
            "everybody_is_somebody",
            " union all ".join(
                f"select '{source}' as source, {key} as source_id from {table} s "
                "where not is_deleted and not exists (select 1 from semantic.entity_index e "
                f"where e.source = '{source}' and e.source_id = s.{key})"
                for source, (table, key) in PEOPLE.items()
            ),
            "every customer and contact that stands in staging is in exactly one entity",
        ),
    )


def transform(
    here: DataFrame, shopify: DataFrame, stripe: DataFrame, hubspot: DataFrame
) -> tuple[DataFrame, DataFrame]:
    named = ("first_name", "last_name")
    both = "nullif(concat_ws(' ', first_name, last_name), '')"
    records = [
        _records(shopify, "shopify", "customer_id", *named, f"{both} as full_name"),
        _records(stripe, "stripe", "customer_id", *(f"cast(null as string) as {n}" for n in named),
                 "full_name"),
        _records(hubspot, "hubspot", "contact_id", *named, f"{both} as full_name"),
    ]  # fmt: skip
    fresh = normalized(records[0].unionByName(records[1]).unionByName(records[2]))
    made, old = grouped(here, fresh.drop("country"))
    sure = (
        "case when _by_email = _by_phone then 1.00 when _by_email then 0.95 else 0.90 end"
    )
    confidence = F.expr(f"cast({sure} as decimal(5,2))").alias("match_confidence")
    others = [c for c in EntityIndex.columns if c != "match_confidence"]
    return made.select(*others, confidence), old


def _records(people: DataFrame, source: str, key: str, *names: str) -> DataFrame:
    return people.selectExpr(
        f"'{source}' as source", f"{key} as source_id", "email", "phone", "country", *names,
        "created_at", "updated_at", "is_deleted",
    )  # fmt: skip


entity_index = table_asset(
    EntityIndex,
    transform,
    shopify=stg_shopify_customers,
    stripe=stg_stripe_customers,
    hubspot=stg_hubspot_contacts,
)
