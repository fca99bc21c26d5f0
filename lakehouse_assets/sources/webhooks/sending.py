"""Records into Kafka, each with a future that is done when every replica has it.

The producer is polled from the event loop while something is outstanding. A thread of its own would
fight the loop for the interpreter's lock at every acknowledgement.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lakehouse_assets import settings
from lakehouse_assets.sources.produce import MAX_RECORD_BYTES, ensure_topic

DELIVERY_S = 4  # Shopify hangs up after 5
POLL_S = 0.002  # what a record may wait for its acknowledgement to be noticed
QUEUED_RECORDS, QUEUED_KB = 20_000, 65_536  # outstanding; beyond it the vendor must come again
LOOK_EVERY_S = 2.0
LOOK_S = 2.0
FLUSH_S = 5.0

logger = logging.getLogger("lakehouse.sending")


class NotSent(Exception):
    """Kafka has not acknowledged the record. It may hold it nevertheless."""


class Sender:
    """An idempotent producer for one event loop. `is_up`: Kafka answered when last asked.
    `config`: of the topics, where it makes them.
    """

    def __init__(self, topics: tuple[str, ...], config: Mapping[str, str] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._topics, self._config = topics, config
        self._producers = [self._made()]  # the first is in use; others finish what they hold
        self._outstanding = 0
        self._is_polling = False
        self.is_up = False
        self._is_told_up: bool | None = None

    def send(
        self, topic: str, key: str, value: bytes, at_ms: int = 0
    ) -> "asyncio.Future[None]":
        """Never raises; what is wrong is the future's. `at_ms`: the record's timestamp, in a topic
        that keeps the producer's; 0: now.
        """
        done: asyncio.Future[None] = self._loop.create_future()

        def delivered(error: KafkaError | None, _: Message) -> None:
            self._outstanding -= 1
            self._settle(done, error)

        producer = self._producers[0]
        try:
            producer.produce(topic, value, key, on_delivery=delivered, timestamp=at_ms)
        except BufferError:
            done.set_exception(NotSent(f"{QUEUED_RECORDS:,} records are waiting already"))
        except KafkaException as failure:
            self._settle(done, failure.args[0])
            if failure.args[0].code() == KafkaError._FATAL:
                self._renew(producer, failure.args[0])
        else:
            self._outstanding += 1
            self._keep_polling()
        return done

    async def look(self) -> None:
        """Now and then: is Kafka there, and our topics? Until it is cancelled."""
        while True:
            for producer in (*self._producers,):
                self._hear(producer)
            self._producers[1:] = [old for old in self._producers[1:] if len(old)]
            try:
                await asyncio.to_thread(self._require_topics)
                self._told(True, "")
            except Exception as failure:  # whatever it is, the next look may fare better
                self._told(False, str(failure))
            await asyncio.sleep(LOOK_EVERY_S)

    async def close(self) -> None:
        """Wait for what is outstanding, within bounds."""
        for producer in self._producers:
            with suppress(KafkaException):  # it broke: it holds nothing that could be sent
                await asyncio.to_thread(producer.flush, FLUSH_S)

    def _require_topics(self) -> None:
        there = self._producers[0].list_topics(timeout=LOOK_S).topics
        for name in self._topics:
            if name not in there:
                ensure_topic(name, config=self._config)

    def _settle(self, done: "asyncio.Future[None]", error: KafkaError | None) -> None:
        if error is None:
            done.set_result(None)
            return
        done.set_exception(NotSent(error.str()))
        self._told(False, error.str())

    def _hear(self, producer: Producer) -> None:
        """What it has to tell: a fatal error once, and then of all it held that it is not sent."""
        try:
            producer.poll(0)
        except KafkaException as failure:  # no callback hears of a fatal error
            self._renew(producer, failure.args[0])

    def _renew(self, producer: Producer, error: KafkaError) -> None:
        """One with a fatal error takes nothing any more."""
        if producer is self._producers[0]:
            logger.error("the producer broke and is replaced: %s", error.str())
            self._producers.insert(0, self._made())

    def _told(self, is_up: bool, why: str) -> None:
        if is_up != self._is_told_up:
            logger.warning("Kafka at %s is %s %s", settings.kafka_bootstrap(),
                           "there" if is_up else "away:", why)  # fmt: skip
        self.is_up = self._is_told_up = is_up

    def _keep_polling(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._loop.call_later(POLL_S, self._poll)

    def _poll(self) -> None:
        for producer in (*self._producers,):
            self._hear(producer)
        self._is_polling = False
        if self._outstanding:
            self._keep_polling()

    def _made(self) -> Producer:
        conf: dict[str, Any] = {
            "bootstrap.servers": settings.kafka_bootstrap(),
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": "lz4",
            "linger.ms": 2,
            "partitioner": "murmur2_random",  # as the generators', so that both send a key alike
            "message.max.bytes": MAX_RECORD_BYTES,
            "queue.buffering.max.messages": QUEUED_RECORDS,
            "queue.buffering.max.kbytes": QUEUED_KB,
            "delivery.timeout.ms": DELIVERY_S * 1000,
            "reconnect.backoff.max.ms": 500,
            "log_level": 2,  # an absent broker would fill the log; what fails is answered
        }
        return Producer(conf)
