"""The web shop in chaos: its traffic goes on while what captures it is killed, and at rest its own
database says what every table must hold.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from lakehouse_assets.bench import _shop
from lakehouse_assets.bench._lab import Lab
from lakehouse_assets.chaos._plan import (
    CLIENT,
    CONNECT,
    KAFKA,
    POSTGRES,
    REGISTRY,
    RUN,
    SERVER,
    SPARK,
)
from lakehouse_assets.chaos._source import Source, Traffic, Verdict
from lakehouse_assets.commands import compare, readback
from lakehouse_assets.commands.compare import Compared
from lakehouse_assets.services.service import Service
from lakehouse_assets.sources.oracle import Delivered
from lakehouse_assets.sources.storefront import truth
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.live import Flow
from lakehouse_assets.sources.storefront.seeding import Sizes
from lakehouse_assets.sources.storefront.truth import logged, raw
from lakehouse_assets.sources.storefront.truth.shape import TABLES
from lakehouse_assets.sources.storefront.truth.written import registered

SMALL = Sizes(customers=100, products=40, orders=200)
RATE = 20.0  # transactions per second while runs go on
ALONGSIDE = 2_400  # transactions at most, for a strike that never comes: two minutes
SNAPSHOT = "r"  # what a record tells that was not captured from the log
CHANGE = ("table", "lsn", "op")


class Shopping(Traffic):
    """Transactions in a thread, until the strike is over."""

    def __init__(self, going: "Future[None]", over: threading.Event) -> None:
        self._going, self._over = going, over

    def is_going(self) -> bool:
        return not (self._going.done() or self._over.is_set())

    def end(self) -> None:
        self._over.set()


class Captured(Source):
    group = "storefront"
    has_traffic = True
    servers = (SPARK, KAFKA, CONNECT, POSTGRES, REGISTRY)
    hand = (RUN, RUN, CLIENT, SERVER, SERVER)

    def services(self) -> list[Service]:
        return _shop.services()

    def begin(self, place: Lab, topics: Sequence[str], seed: int, plays: int) -> None:
        """A small shop, its first snapshot in Kafka, and a witness of all that will happen."""
        self._topics, self._seed = list(topics), seed
        _shop.seed(SMALL, seed)
        _shop.capture(place)

    def send(self, count: int) -> None:
        """Transactions, one after the other."""
        self._flow(0, count).run(threading.Event(), lambda done: None)
        wait_until_captured()

    def _flow(self, rate: float, count: int) -> Flow:
        return Flow(self._seed, rate, count)

    @contextmanager
    def alongside(self) -> Iterator[Traffic]:
        over = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            going = pool.submit(self._flow(RATE, ALONGSIDE).run, over, lambda done: None)
            try:
                yield Shopping(going, over)
            finally:
                over.set()
        going.result()

    def judged(self, about: Iterable[str]) -> Verdict:
        about = set(about)
        wait_until_captured()
        records = readback.read_back(self._topics)
        names = {truth.TOPICS[topic] for topic in self._topics}
        happened = [one for one in logged.more() if one.table in names]
        found = [_as_logged(records, happened)]
        found += [one for one in compare.against_truth(truth, records) if one.table in about]
        resurrected = 0
        for table, told in compare.beside_shop():
            if table in about:
                resurrected += told.unexpected
                found.append(Compared(
                    f"postgres.{told.table}", told.shop.rows, told.lacking, told.twice,
                    told.other, told.examples,
                ))  # fmt: skip
        return Verdict(found, len(happened), len(records), {"resurrected": resurrected})


def _as_logged(records: Iterable[Delivered], happened: Iterable[logged.Logged]) -> Compared:
    """Each change that the database logged is one record, and no record is anything else."""
    readers = {
        topic: raw.Reader(TABLES[name], registered(topic)) for topic, name in truth.TOPICS.items()
    }
    held = []
    for record in records:
        said = readers[record.topic].parse(record.value).row
        if record.value is not None and said["op"] != SNAPSHOT:
            place = (truth.TOPICS[record.topic], (said["source"] or {}).get("lsn"), said["op"])
            held.append(dict(zip(CHANGE, place, strict=True)))
    wanted = [one._asdict() for one in happened]
    wanted = [{name: one[name] for name in CHANGE} for one in wanted]
    return compare.compare("kafka.storefront", CHANGE, held, wanted)
