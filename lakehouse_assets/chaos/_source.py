"""What a source is to chaos: which services it takes, how its events come, which servers are killed
under it, and how all that is judged in the end.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from lakehouse_assets.bench._lab import Lab
from lakehouse_assets.chaos._plan import HAND, KAFKA, SPARK
from lakehouse_assets.commands.compare import Compared
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.service import Service
from lakehouse_assets.services.spark import Spark


@dataclass
class Verdict:
    found: list[Compared]  # what came of it, table by table
    sent: int  # by the source
    records: int  # in its topics
    more: dict[str, Any] = field(default_factory=dict)  # figures of this source alone


class Traffic:
    """What comes alongside; of most sources it is over before anything is killed."""

    def is_going(self) -> bool:
        return False

    def end(self) -> None:
        """Soon; runs find an end only then."""


class Source:
    """Subclass it with how events are sent and judged; the rest has a default."""

    group: str
    has_traffic = False  # that goes on until the strike
    servers: Sequence[str] = (SPARK, KAFKA)
    hand: Sequence[str] = HAND

    def services(self) -> list[Service]:
        """Those that start side by side, before it begins."""
        return [Kafka(), Spark()]

    def begin(self, place: Lab, topics: Sequence[str], seed: int, plays: int) -> None:
        """Make ready, for the tables of these topics and so many plays at most."""
        raise NotImplementedError

    def send(self, count: int) -> None:
        """So many events; when it returns they are in Kafka."""
        raise NotImplementedError

    def alongside(self) -> AbstractContextManager[Traffic]:
        """Some come while runs go on and something is killed."""
        return nullcontext(Traffic())

    def through(self, outage: str) -> AbstractContextManager[None]:
        """Some come while that server is away."""
        return nullcontext()

    def judged(self, about: Iterable[str]) -> Verdict:
        """The named tables, and what is in Kafka, beside what was sent."""
        raise NotImplementedError
