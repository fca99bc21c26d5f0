"""Kafka away, slow, killed; the door killed: what was answered is there, what is there is once."""

import asyncio
import ctypes
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout  # Python 3.10 has two
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import confluent_kafka
import psutil
import pytest
from confluent_kafka import KafkaError, Producer

from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.webhooks import Webhooks
from lakehouse_assets.sources.webhooks.sending import DELIVERY_S, LOOK_EVERY_S, NotSent, Sender
from lakehouse_assets_tests.sources.webhooks.vendor import (
    Request,
    charge,
    contact,
    get,
    hubspot,
    records,
    shopify,
    stripe,
    until_kafka_is,
)


def process(service: Kafka | Webhooks) -> psutil.Process:
    pid = service.status().pid
    assert pid is not None
    return psutil.Process(pid)


@contextmanager
def mute_kafka() -> Iterator[None]:
    """It takes connections and answers nothing, until the end of the block."""
    broker = process(Kafka())
    broker.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        broker.send_signal(signal.SIGCONT)


def test_an_answered_event_survives_the_death_of_door_and_broker(door: Webhooks) -> None:
    assert hubspot([contact(n) for n in range(50)]).send().status == 200
    for service in (door, Kafka()):
        process(service).kill()
    Kafka().start()
    door.start()
    until_kafka_is("up")
    for n in range(50, 60):  # every partition has its leader again
        assert hubspot([contact(n, objectId=n)]).send().status == 200
    assert [len(records(str(n))) for n in (0, 49, 59)] == [1, 1, 1]


def test_without_kafka_a_vendor_is_told_to_come_again_and_then_it_works(door: Webhooks) -> None:
    Kafka().stop()
    sent = stripe(charge("evt_away"))
    answer = sent.send()
    assert answer.code == (503, "kafka_away") and answer.headers["retry-after"] == "5"
    until_kafka_is("away")
    assert get("/health").status == 200, "the door itself is well"
    assert b'webhooks_failed_total{topic="stripe.charges"} 1.0' in get("/metrics").body
    Kafka().start()
    until_kafka_is("up")
    assert sent.send().said == {"received": 1, "recognised": 0}
    assert len(records("evt_away")) == 1


def test_of_deliveries_at_once_one_is_sent_and_all_are_answered_by_its_fate(door: Webhooks) -> None:
    requests: list[Request] = [shopify({"id": 1}, "w-once")] * 8
    with ThreadPoolExecutor(8) as pool:
        with mute_kafka():
            waiting = [pool.submit(partial(request.send)) for request in requests]
            answers = [future.result() for future in waiting]
        assert {a.code for a in answers} == {(503, "kafka_away")}, "none is believed to be there"
        until_kafka_is("up")
        answers = list(pool.map(lambda request: request.send(), requests))
    assert sum(a.said["recognised"] for a in answers) == 7
    assert {a.status for a in answers} == {200}
    # What Kafka did not acknowledge in time it may hold nevertheless: raw keeps every delivery.
    assert 1 <= len(records("w-once")) <= 2


def test_a_hiccup_of_kafkas_is_waited_for(door: Webhooks) -> None:
    with ThreadPoolExecutor(2) as pool:
        with mute_kafka():
            waiting = [pool.submit(stripe(charge("evt_slow")).send) for _ in range(2)]
            with pytest.raises(FutureTimeout):
                waiting[0].result(timeout=1)
        assert sorted(f.result().said["recognised"] for f in waiting) == [0, 1]
    assert len(records("evt_slow")) == 1


def test_a_producer_that_broke_for_good_is_replaced(door: Webhooks) -> None:
    async def broken() -> None:
        sender = Sender(("stripe.charges",))
        looking = asyncio.create_task(sender.look())
        with mute_kafka():
            held = sender.send("stripe.charges", "k", b'{"_webhook_id":"evt_lost"}')
            break_for_good(sender._producers[0])
            with pytest.raises(NotSent):
                await asyncio.wait_for(held, DELIVERY_S)
        await sender.send("stripe.charges", "k", b'{"_webhook_id":"evt_renewed"}')
        break_for_good(sender._producers[0])
        with pytest.raises(NotSent, match="Fatal"):
            await sender.send("stripe.charges", "k", b'{"_webhook_id":"evt_refused"}')
        await sender.send("stripe.charges", "k", b'{"_webhook_id":"evt_at_once"}')
        break_for_good(sender._producers[0])  # nothing is outstanding: a look finds it
        await asyncio.sleep(LOOK_EVERY_S + 0.5)
        await sender.send("stripe.charges", "k", b'{"_webhook_id":"evt_once_more"}')
        assert not looking.done()
        looking.cancel()
        await sender.close()

    asyncio.run(broken())
    found = [len(records(f"evt_{one}")) for one in ("renewed", "at_once", "once_more")]
    assert found == [1, 1, 1]


def break_for_good(producer: Producer) -> None:
    """As a broker does that has fenced it: librdkafka has a door for tests, Python none."""
    beside = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(beside.glob("librdkafka*"))))
    handle = ctypes.c_void_p.from_address(id(producer) + object.__basicsize__)
    fail = library.rd_kafka_test_fatal_error
    fail.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
    assert fail(handle, KafkaError.INVALID_PRODUCER_EPOCH, b"fenced by a test") == 0
