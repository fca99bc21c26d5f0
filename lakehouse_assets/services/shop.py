"""The web shop's seeder: it fills the shop's database and keeps its traffic going, over HTTP."""

import sys

from lakehouse_assets import settings
from lakehouse_assets.services.host import HOST, ServiceError, answers
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.service import Service


class Shop(Service):
    name = "shop"
    port_names = ("shop",)
    is_optional = True

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('shop')}"

    def prepare(self) -> None:
        """The database gets its newest schema before anybody writes to it."""
        from lakehouse_assets.sources.storefront.database import migrate_shop

        if not Postgres().probe():
            raise ServiceError(
                "shop: no PostgreSQL answers. Start it with `lakehouse up postgres`, or name yours"
                " in LAKEHOUSE_POSTGRES."
            )
        migrate_shop()

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.sources.storefront.app"]

    def probe(self) -> bool:
        return answers(f"{self.url}/health", "database")
