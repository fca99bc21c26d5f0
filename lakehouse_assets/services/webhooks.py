"""The webhooks' door: what Shopify, Stripe and HubSpot send over HTTP goes to Kafka."""

import sys

from lakehouse_assets import settings
from lakehouse_assets.services.host import HOST, answers
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service


class Webhooks(Service):
    """Its secrets come with the environment in which it is started; those which are not there are
    made, so that ours and the simulator know them.
    """

    name = "webhooks"
    port_names = ("webhooks",)
    start_timeout_s = 30
    is_optional = True

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('webhooks')}"

    def env(self) -> dict[str, str]:
        from lakehouse_assets.sources.webhooks.vendors import VENDORS

        return super().env() | {vendor.secret: secret(vendor.secret) for vendor in VENDORS}

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.sources.webhooks.app"]

    def probe(self) -> bool:
        return answers(f"{self.url}/health", "secrets_missing")
