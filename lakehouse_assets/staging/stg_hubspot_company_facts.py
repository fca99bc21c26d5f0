"""staging.stg_hubspot_company_facts: one row per company of HubSpot and fact about it.

HubSpot tells of companies in single events: this property now has that value, it was created, it
was deleted. Each is a fact about the company, and of each fact the newest stands, then the greater
value. What a company is, is folded from its facts by stg_hubspot_companies: from few rows, not from
all that was ever said. An event that says not of which, or not when, is set aside.

A fact may be told anew at any time, so there is none by which this table could skip files: news of
some companies reads the keys of all. Nothing is joined or summed.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.hubspot_companies import hubspot_companies
from lakehouse_assets.staging.vendors import FactTable, hubspot_facts


class StgHubspotCompanyFacts(FactTable):
    company_id = column("string", "HubSpot's id of the company.", key=True)


def transform(events: DataFrame) -> DataFrame:
    return hubspot_facts(events, key="company_id")


stg_hubspot_company_facts = table_asset(
    StgHubspotCompanyFacts, transform, events=hubspot_companies
)
