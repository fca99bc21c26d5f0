"""What the door counts, for Prometheus. Each door has a registry of its own."""

from asyncio import Future

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from lakehouse_assets.sources.webhooks.limits import Room
from lakehouse_assets.sources.webhooks.recent import Recent
from lakehouse_assets.sources.webhooks.sending import Sender

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    def __init__(self) -> None:
        self._all = CollectorRegistry()

        def counter(name: str, told: str, *labels: str) -> Counter:
            return Counter(name, told, labels, registry=self._all)

        self._requests = counter("webhooks_requests", "Requests by answer.", "vendor", "answer")
        self._events = counter("webhooks_events", "Events that Kafka acknowledged.", "topic")
        self._failed = counter("webhooks_failed", "Events that Kafka did not take.", "topic")
        self._recognised = counter("webhooks_recognised", "Events known already.", "vendor")
        self._seconds = Histogram(
            "webhooks_seconds", "From a request to its answer.", ("vendor",), buckets=SECONDS,
            registry=self._all,
        )  # fmt: skip

    def watch(self, room: Room, recent: Recent, sender: Sender) -> None:
        """What is looked at whenever somebody asks."""
        for name, told, look in (
            ("webhooks_in_flight", "Requests at work.", lambda: room.taken),
            ("webhooks_remembered", "Events that would be recognised.", lambda: len(recent)),
            ("webhooks_kafka_up", "1: Kafka answered when last asked.", lambda: sender.is_up),
        ):
            Gauge(name, told, registry=self._all).set_function(look)

    def answered(self, vendor: str, code: str, seconds: float) -> None:
        self._requests.labels(vendor, code).inc()
        self._seconds.labels(vendor).observe(seconds)

    def sent(self, topic: str, sent: "Future[None]") -> None:
        """Counted when it is known what became of it."""

        def count(done: "Future[None]") -> None:
            failed = done.cancelled() or done.exception()
            (self._failed if failed else self._events).labels(topic).inc()

        sent.add_done_callback(count)

    def recognised(self, vendor: str, events: int) -> None:
        if events:
            self._recognised.labels(vendor).inc(events)

    def text(self) -> bytes:
        return generate_latest(self._all)
