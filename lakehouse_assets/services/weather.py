"""The weather's logging server: what a client says over HTTP goes to Kafka."""

import sys

from lakehouse_assets import settings
from lakehouse_assets.services.host import HOST, answers
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.service import Service


class Weather(Service):
    name = "weather"
    port_names = ("weather",)
    start_timeout_s = 30
    is_optional = True

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('weather')}"

    def prepare(self) -> None:
        """What is logged ends in a table for pages, which is there from the beginning, if there is
        a database; the server itself needs none.
        """
        from lakehouse_assets.serving.database import migrate_analytics

        if Postgres().probe():
            migrate_analytics()

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.sources.weather.app"]

    def probe(self) -> bool:
        return answers(f"{self.url}/health", "status")
