"""A source's event generator in the background, with its log beside the other services'."""

import sys
import time
from collections.abc import Sequence

from lakehouse_assets.services.service import Service

SOURCES = ("payments",)
SETTLED_S = 2.0  # one that lives so long has imported, reached Kafka and found or made its topic


class Generator(Service):
    """`python -m lakehouse_assets.sources.<source>`, with the arguments it is given."""

    start_timeout_s = 30

    def __init__(self, source: str, args: Sequence[str] = ()) -> None:
        self.source, self.args = source, list(args)
        self.name = f"generate-{source}"

    def command(self) -> list[str]:
        return [sys.executable, "-m", f"lakehouse_assets.sources.{self.source}", *self.args]

    def probe(self) -> bool:
        process = self._recorded()
        return process is not None and time.time() - process.create_time() > SETTLED_S
