"""staging.stg_hubspot_contacts: one row per contact of HubSpot, as they last were.

Folded from what is known of each contact, fact by fact: HubSpot never sends one whole. Of one who
was deleted, and not restored since, only the id and the times are kept. The company is the newest
primary association. News of some contacts computes those again, from all of their facts; a fact has
no time by which files could be skipped, so the facts' keys are read. Nobody is refused here: what
could not be told of whom or when is set aside where the facts are made.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_hubspot_contact_facts import stg_hubspot_contact_facts
from lakehouse_assets.staging.vendors import country, folded

PROPERTIES = {
    "email": "email", "phone": "phone", "firstname": "first_name", "lastname": "last_name",
    "country": "country", "city": "city", "company": "company_name", "jobtitle": "job_title",
    "lifecyclestage": "lifecycle_stage",
}  # fmt: skip


class StgHubspotContacts(Table):
    contact_id = column("string", "HubSpot's id of the contact.", key=True)
    email = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    phone = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    first_name = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    last_name = column("string", "As it was typed, trimmed.", nullable=True, pii=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    city = column("string", "Where they live.", nullable=True)
    company_name = column("string", "Whom they work for, as it was typed.", nullable=True)
    job_title = column("string", "As what.", nullable=True)
    lifecycle_stage = column("string", "subscriber, lead, customer, …", nullable=True)
    company_id = column("string", "Their first company in HubSpot.", nullable=True)
    created_at = column("timestamp", "When the contact was made, UTC.", nullable=True)
    updated_at = column("timestamp", "When anything last happened to it, UTC.")
    is_deleted = column("boolean", "They are no more.")

    layout = Layout(scope=recompute_keys(at="", by=("contact_id",)))


def transform(facts: DataFrame) -> DataFrame:
    return folded(facts, "contact_id", PROPERTIES).select(
        "contact_id",
        *[country(name).alias(name) if name == "country" else name for name in PROPERTIES.values()],
        F.col("primary_company").alias("company_id"),
        "created_at",
        "updated_at",
        "is_deleted",
    )


stg_hubspot_contacts = table_asset(
    StgHubspotContacts, transform, facts=stg_hubspot_contact_facts
)
