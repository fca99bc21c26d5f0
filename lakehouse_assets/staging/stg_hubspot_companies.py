"""staging.stg_hubspot_companies: one row per company in HubSpot, as it last was.

Folded from what is known of each company, fact by fact: HubSpot never sends one whole. Of one that
was deleted, and not restored since, only the id and the times are kept. News of some companies
computes those again, from all of their facts; a fact has no time by which files could be skipped,
so the facts' keys are read. Nothing is refused here: what could not be told of which or when is set
aside where the facts are made.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_hubspot_company_facts import stg_hubspot_company_facts
from lakehouse_assets.staging.vendors import country, folded

PROPERTIES = {
    "name": "company_name", "domain": "domain", "country": "country", "phone": "phone",
    "industry": "industry", "numberofemployees": "employees",
}  # fmt: skip
COUNT = r"^[0-9]{1,9}\z"


class StgHubspotCompanies(Table):
    company_id = column("string", "HubSpot's id of the company.", key=True)
    company_name = column("string", "As it was typed, trimmed.", nullable=True)
    domain = column("string", "Its own on the internet.", nullable=True)
    country = column("string", "ISO 3166 alpha-2.", nullable=True)
    phone = column("string", "As it was typed, trimmed.", nullable=True)
    industry = column("string", "HubSpot's word for it.", nullable=True)
    employee_count = column("int", "How many work there.", ge=0, nullable=True)
    created_at = column("timestamp", "When the company was entered, UTC.", nullable=True)
    updated_at = column("timestamp", "When anything last happened to it, UTC.")
    is_deleted = column("boolean", "It is no more.")

    layout = Layout(scope=recompute_keys(at="", by=("company_id",)))


def transform(facts: DataFrame) -> DataFrame:
    employees = F.col("employees")
    return folded(facts, "company_id", PROPERTIES).select(
        "company_id",
        "company_name",
        "domain",
        country("country").alias("country"),
        "phone",
        "industry",
        F.when(employees.rlike(COUNT), employees.try_cast("int")).alias("employee_count"),
        "created_at",
        "updated_at",
        "is_deleted",
    )


stg_hubspot_companies = table_asset(
    StgHubspotCompanies, transform, facts=stg_hubspot_company_facts
)
