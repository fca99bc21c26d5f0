"""semantic.entity_index: one row per record of a person in some system, and whose it is.

Two records are one person's if their e-mails are the same mailbox or their phones the same number,
and so are those that are linked to them in turn; which spellings are the same is said in `contact`,
which keys are shared by too many to tell a person in `matching`. Who was deleted is not there.

An `entity_id` stays with the people it was made for: of two entities that become one the larger
gives its name, of one that falls apart the larger part keeps it (`entity_changes` tells). The
grouping depends on the records alone, the ids on the order in which they came, too. Looking for
who else has a key reads all records' keys, which cannot prune; everything after it can.
"""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Across, Layout, Rule, Table, column, own_rows
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.contact import normalized
from lakehouse_assets.semantic.matching import grouped
from lakehouse_assets.semantic.storefront_people import storefront_people
from lakehouse_assets.staging.stg_hubspot_contacts import stg_hubspot_contacts
from lakehouse_assets.staging.stg_shopify_customers import stg_shopify_customers
from lakehouse_assets.staging.stg_stripe_customers import stg_stripe_customers

VENDORS = {  # the staging table of each, and its key
    "shopify": ("staging.stg_shopify_customers", "customer_id"),
    "stripe": ("staging.stg_stripe_customers", "customer_id"),
    "hubspot": ("staging.stg_hubspot_contacts", "contact_id"),
}
SHOP = {"storefront": ("semantic.storefront_people", "cast(customer_id as string)")}
SOURCES = (*VENDORS, *SHOP)


def alive(people: dict[str, tuple[str, str]]) -> str:
    """SQL: the records of these tables that should have a place here."""
    return " union all ".join(
        f"select '{source}' as source, {key} as source_id from {table} where not is_deleted"
        for source, (table, key) in people.items()
    )


def nobody(people: dict[str, tuple[str, str]]) -> str:
    """SQL: the records of these tables that have no place here."""
    return (
        f"select source, source_id from ({alive(people)}) "
        "left anti join semantic.entity_index using (source, source_id)"
    )


def ghosts(people: dict[str, tuple[str, str]]) -> str:
    """SQL: the records that have a place here, and none alive in these tables."""
    theirs = ", ".join(f"'{source}'" for source in people)
    return (
        f"select source, source_id from semantic.entity_index left anti join ({alive(people)}) "
        f"using (source, source_id) where source in ({theirs})"
    )


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
            "everybody_is_somebody", nobody(VENDORS),
            "every customer and contact that stands in staging is in exactly one entity",
        ),
        Across(
            "nobody_is_a_ghost", ghosts(VENDORS),
            "every record here is a customer or contact that stands in staging",
        ),
        Across(
            "every_shopper_is_somebody", nobody(SHOP),
            "every customer of the shop is in exactly one entity", of=SHOP["storefront"][0],
        ),
        Across(
            "no_shopper_is_a_ghost", ghosts(SHOP),
            "every record of the shop here is a customer of it",
        ),
    )


def transform(
    here: DataFrame, shopify: DataFrame, stripe: DataFrame, hubspot: DataFrame, shop: DataFrame
) -> tuple[DataFrame, DataFrame]:
    both = "nullif(concat_ws(' ', first_name, last_name), '')"
    named = ("first_name", "last_name", f"{both} as full_name")
    alone = [f"cast(null as string) as {name}" for name in named[:2]]
    records = [
        _records(shopify, "shopify", "customer_id", *named),
        _records(stripe, "stripe", "customer_id", *alone, "full_name"),
        _records(hubspot, "hubspot", "contact_id", *named),
        _records(shop, "storefront", "cast(customer_id as string)", *named),
    ]
    fresh = normalized(reduce(DataFrame.unionByName, records))
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
    shop=storefront_people,
)
