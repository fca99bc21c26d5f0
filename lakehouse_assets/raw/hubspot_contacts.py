"""raw.hubspot_contacts: one row per record of the Kafka topic `hubspot.contacts`.

HubSpot's events about contacts, each one change of one property, every delivery, re-deliveries too.
What a contact is can only be told from all of them. Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import HubspotTable


class HubspotContacts(HubspotTable):
    layout = Layout(partitioned_by="ingest_hour")


hubspot_contacts = raw_table(HubspotContacts, topic="hubspot.contacts", group="webhooks")
