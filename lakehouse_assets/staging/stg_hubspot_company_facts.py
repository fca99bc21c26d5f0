"""staging.stg_hubspot_company_facts: one row per company of HubSpot and fact about it.

HubSpot tells of companies in single events: this property now has that value, it was created, it
was deleted. Each is a fact about the company, and of each fact the newest stands, then the greater
value. What a company is, is folded from its facts by stg_hubspot_companies: from few rows, not from
all that was ever said. An event that says not of which, or not when, is set aside.

A fact may be told anew at any time, so there is none by which this table could skip files: news of
some companies reads the keys of all. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.hubspot_companies import hubspot_companies
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import hubspot_facts


class StgHubspotCompanyFacts(StagingTable):
    company_id = column("string", "HubSpot's id of the company.", key=True)
    fact = column("string", "`property.…`, `event.…` or `association.primary_company`.", key=True)
    occurred_at = column("timestamp", "When it became so, UTC.")
    value = column("string", "What it is now; NULL: nothing, or there is none.", nullable=True,
                   pii=True)  # fmt: skip

    layout = Layout(scope=newest(by="occurred_at"))
    rules: ClassVar[tuple[Rule, ...]] = on_time("occurred_at")


def transform(events: DataFrame) -> DataFrame:
    facts = hubspot_facts(events.where("_error is null"), key="company_id")
    return facts.select(
        "company_id", "fact", "occurred_at", "value", "arrived_at", F.expr(RECORD)
    )


stg_hubspot_company_facts = table_asset(
    StgHubspotCompanyFacts, transform, events=hubspot_companies
)
