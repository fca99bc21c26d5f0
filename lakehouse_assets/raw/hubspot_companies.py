"""raw.hubspot_companies: one row per record of the Kafka topic `hubspot.companies`.

HubSpot's events about companies, each one change of one property, every delivery, re-deliveries
too. What a company is can only be told from all of them. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import HubspotTable


class HubspotCompanies(HubspotTable):
    layout = Layout(partitioned_by="ingest_hour")


hubspot_companies = raw_table(HubspotCompanies, topic="hubspot.companies", group="webhooks")
