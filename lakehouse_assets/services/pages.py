"""The pages: the weather's dashboard and the board of all checks, for browsers."""

import sys

from lakehouse_assets import settings
from lakehouse_assets.services.dagster import dagster_env
from lakehouse_assets.services.host import HOST, answers
from lakehouse_assets.services.service import Service


class Pages(Service):
    """It reads only, and comes up whatever else runs or not."""

    name = "pages"
    port_names = ("pages",)
    start_timeout_s = 30

    @property
    def url(self) -> str:
        return f"http://{HOST}:{settings.port('pages')}"

    def env(self) -> dict[str, str]:
        """The instance that it looks at is this lake's."""
        return super().env() | dagster_env()

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.pages.app"]

    def probe(self) -> bool:
        return answers(f"{self.url}/health", "status")
