"""A source's event generator in the background, with its log beside the other services'."""

import importlib
import sys
import time
from collections.abc import Sequence

from lakehouse_assets.services.service import Service

SOURCES = ("payments", "webhooks", "storefront", "weather", "lineage")
# What a source needs beside what all do, by name.
NEEDS = {
    "webhooks": ("webhooks",),
    "storefront": ("postgres", "registry", "connect", "shop", "capture"),
    "weather": ("weather", "postgres"),
}
SETTLED_S = 2.0  # one that lives so long has imported, and reached who takes its events


def feeds(source: str) -> tuple[str, ...]:
    """What a source can send, each for itself, by the names that one types."""
    return tuple(importlib.import_module(f"lakehouse_assets.sources.{source}").FEEDS)


def generators() -> "list[Generator]":
    """Every source's, whole and by feed."""
    return [Generator(source, feed=feed) for source in SOURCES for feed in ("", *feeds(source))]


class Generator(Service):
    """`python -m lakehouse_assets.sources.<source>`, with the arguments it is given."""

    start_timeout_s = 30

    def __init__(self, source: str, args: Sequence[str] = (), feed: str = "") -> None:
        self.source, self.feed, self.is_optional = source, feed, bool(feed)
        self.args = [*args, f"--only={feed}"] if feed else list(args)
        self.name = "-".join(filter(None, ("generate", source, feed)))

    def command(self) -> list[str]:
        return [sys.executable, "-m", f"lakehouse_assets.sources.{self.source}", *self.args]

    def probe(self) -> bool:
        process = self._recorded()
        return process is not None and time.time() - process.create_time() > SETTLED_S

    def twins(self) -> "list[Generator]":
        """Those that would send the same events: of a feed the whole source's, and vice versa."""
        return [
            other
            for other in generators()
            if other.source == self.source and bool(other.feed) != bool(self.feed)
        ]
