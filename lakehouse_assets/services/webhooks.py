"""The webhooks' door: what Shopify, Stripe and HubSpot send over HTTP goes to Kafka."""

import sys

from lakehouse_assets import settings
from lakehouse_assets.services.host import HOST, answers
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service


def made_secrets() -> dict[str, str]:
    """Those that are made here, by variable: all, so that the simulator can sign as every vendor;
    none as soon as the environment has a vendor's, since whoever says one means real vendors.
    """
    from lakehouse_assets.sources.webhooks.vendors import VENDORS

    if any(settings.webhook_secrets(vendor.secret) for vendor in VENDORS):
        return {}
    return {vendor.secret: secret(vendor.secret) for vendor in VENDORS}


def signing() -> dict[str, bytes]:
    """With what to sign as each vendor to whom the door opens."""
    from lakehouse_assets.sources.webhooks.vendors import VENDORS

    made = made_secrets()
    said = {v.name: settings.webhook_secrets(v.secret) for v in VENDORS}
    return {v.name: said[v.name][0] if said[v.name] else made[v.secret].encode()
            for v in VENDORS if said[v.name] or made}  # fmt: skip


class Webhooks(Service):
    """Its secrets come with the environment in which it is started, or are all made."""

    name = "webhooks"
    port_names = ("webhooks",)
    start_timeout_s = 30
    is_optional = True

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('webhooks')}"

    def env(self) -> dict[str, str]:
        return super().env() | made_secrets()

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.sources.webhooks.app"]

    def probe(self) -> bool:
        return answers(f"{self.url}/health", "secrets_missing")
