"""Sources that send to Kafka themselves, as dirty as can be: payments, webhooks as their door would
have made them, and weather.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from itertools import islice

from lakehouse_assets.bench._lab import Lab
from lakehouse_assets.chaos._plan import BURST, KAFKA
from lakehouse_assets.chaos._source import Source, Traffic, Verdict
from lakehouse_assets.commands import compare, readback
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import Dirt, payments
from lakehouse_assets.sources.payments import truth as of_payments
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.sources.weather import TOPIC_CONFIG
from lakehouse_assets.sources.weather import truth as of_weather
from lakehouse_assets.sources.weather.around import around
from lakehouse_assets.sources.webhooks import Dirt as WebhookDirt
from lakehouse_assets.sources.webhooks import delivered, requests, vendors
from lakehouse_assets.sources.webhooks import truth as of_webhooks

STREAM = timedelta(days=1)  # in which its events lie, up to now
MEANWHILE = 60  # records that are sent while a run is going on
OUTAGE = 40  # records that are sent while the broker is down
DIRT = Dirt(
    duplicate=0.05, redelivery=0.05, late=0.05, malformed=0.02, wrong_type=0.02, null_value=0.01,
    negative_amount=0.01, tie_event=0.01, tie_state=0.01, unknown_field=0.02, early=0.02,
    deletion=0.05, illegal_step=0.05, after_cancel=0.05, oversized=0,
)  # fmt: skip

WEBHOOK_DIRT = WebhookDirt(
    redelivery=0.05, late=0.05, out_of_order=0.05, stale_order=0.05, unknown_field=0.02,
    malformed=0.05,
)  # fmt: skip



class Streamed(Source):
    truth: compare.Truth
    config: Mapping[str, str] | None = None  # of its topics

    def __init__(self) -> None:
        self._sent, self._topics = readback.Sent(), list[str]()
        self._stream: Iterator[Event] = iter(())

    def stream(self, seed: int, start: datetime, pace: timedelta) -> Iterator[Event]:
        """Without end, of its topics only."""
        raise NotImplementedError

    def begin(self, place: Lab, topics: Sequence[str], seed: int, plays: int) -> None:
        self._topics = list(topics)
        for topic in topics:
            ensure_topic(topic, config=self.config)
        most = (BURST[1] + MEANWHILE + OUTAGE) * plays + BURST[1]
        start = datetime.now(timezone.utc) - STREAM
        self._stream = self.stream(seed, start, STREAM / most)

    def send(self, count: int) -> None:
        produce(self._sent.noting(islice(self._stream, count)))

    @contextmanager
    def alongside(self) -> Iterator[Traffic]:
        self.send(MEANWHILE)
        yield Traffic()

    @contextmanager
    def through(self, outage: str) -> Iterator[None]:
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(self.send, OUTAGE if outage == KAFKA else 0)
            yield
            sending.result()

    def judged(self, about: Iterable[str]) -> Verdict:
        records, about = readback.read_back(self._topics), set(about)
        compared = compare.against_truth(self.truth, records)
        told = [one for one in compared if one.table in about]
        return Verdict([*self._sent.beside(records), *told], self._sent.count, len(records))


class Payments(Streamed):
    group, truth = "payments", of_payments

    def stream(self, seed: int, start: datetime, pace: timedelta) -> Iterator[Event]:
        return payments(seed, None, start, DIRT, pace, only=self._topics)


class Webhooks(Streamed):
    """As the door would have made them."""

    group, truth = "webhooks", of_webhooks

    def stream(self, seed: int, start: datetime, pace: timedelta) -> Iterator[Event]:
        """Who wants few topics must not run ahead of the clock."""
        interval = pace * len(self._topics) / len(vendors.TOPICS)
        made = delivered.records(requests(seed, None, start, WEBHOOK_DIRT, interval))
        return (event for event in made if event.topic in self._topics)


class Weather(Streamed):
    """Around the logging server, which takes no dirt and knows no other moment than now."""

    group, truth, config = "weather", of_weather, TOPIC_CONFIG

    def stream(self, seed: int, start: datetime, pace: timedelta) -> Iterator[Event]:
        return around(seed, None, start, pace)
