"""staging.stg_hubspot_contact_facts: one row per contact of HubSpot and fact about it.

HubSpot tells of contacts in single events: this property now has that value, it was created, it
was deleted, its company is another. Each is a fact about the contact, and of each fact the newest
stands, then the greater value. What a contact is, is folded from its facts by stg_hubspot_contacts:
from few rows, not from all that was ever said. An event that says not of whom, or not when, is set
aside.

A fact may be told anew at any time, so there is none by which this table could skip files: news of
some contacts reads the keys of all. Nothing is joined or summed.
"""

from pyspark.sql import DataFrame

from lakehouse_assets.lake.contract import column
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.hubspot_contacts import hubspot_contacts
from lakehouse_assets.staging.vendors import FactTable, hubspot_facts


class StgHubspotContactFacts(FactTable):
    contact_id = column("string", "HubSpot's id of the contact.", key=True)


def transform(events: DataFrame) -> DataFrame:
    return hubspot_facts(events, key="contact_id")


stg_hubspot_contact_facts = table_asset(
    StgHubspotContactFacts, transform, events=hubspot_contacts
)
