"""A small shop whose changes are captured, and a reader of them that knows nothing of Connect."""

import io
import json
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from fastavro import parse_schema, schemaless_reader

from lakehouse_assets import settings
from lakehouse_assets.services import connectors
from lakehouse_assets.services.connect import PASSWORD
from lakehouse_assets.services.postgres import dsn
from lakehouse_assets.services.registry import registry_url
from lakehouse_assets.services.rest import ask
from lakehouse_assets.services.secrets import secret

NAME = "postgres-source-storefront"
SCHEMA = """
create type mood as enum ('good', 'bad');
create table things (
    id bigint generated always as identity primary key, mark uuid not null,
    total numeric(12, 2) not null, at timestamptz not null, made date, is_ok boolean not null
    default true, n integer, name text not null, info jsonb, tags text[], mood mood not null,
    country char(2), body text);
create table notes (a text, b integer, v text, primary key (a, b));
create table counts (id integer primary key, n integer not null);
alter table things replica identity full;
alter table notes replica identity full;
alter table counts replica identity full;
grant select on all tables in schema public to debezium;
create publication storefront for table things, notes, counts;
"""

Row = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """One record: its place, its key, and what it says; None for a tombstone."""

    place: tuple[int, int]
    key: Row | None
    value: Row | None
    headers: dict[str, bytes]

    @property
    def op(self) -> str:
        return self.value["op"] if self.value else "tombstone"


def database() -> "psycopg.Connection[Any]":
    return psycopg.connect(dsn("storefront"), autocommit=True)


def make_shop() -> None:
    with database() as shop:
        shop.execute(f"create role debezium login replication password '{secret(PASSWORD)}'")
        shop.execute(SCHEMA)


def capture() -> None:
    """Registered, and running."""
    connectors.register(NAME)
    until(is_running)


def is_running() -> bool:
    health = connectors.healths().get(NAME)
    return health is not None and health.is_running


def until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so after {seconds:.0f} s: {is_so}"
        time.sleep(0.1)


def changes(
    table: str, is_all: Callable[[list[Change]], bool], seconds: float = 60
) -> list[Change]:
    """All committed changes of a table so far, once they are all; those of a key in order."""
    topic = f"storefront.public.{table}"
    until(lambda: topic in AdminClient(_kafka()).list_topics(timeout=5).topics, seconds)
    told = {"group.id": "test", "isolation.level": "read_committed", "enable.auto.commit": False}
    consumer, found = Consumer(_kafka() | told), []
    partitions = consumer.list_topics(topic, timeout=5).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    deadline = time.monotonic() + seconds
    try:
        while not is_all(found):
            assert time.monotonic() < deadline, f"{len(found)} changes after {seconds:.0f} s"
            for message in consumer.consume(5_000, timeout=0.2):
                assert message.error() is None, message.error()
                place = (message.partition(), message.offset())
                key, value = decoded(message.key()), decoded(message.value())
                found.append(Change(place, key, value, dict(message.headers() or [])))
    finally:
        consumer.close()
    return found


def of_key(found: list[Change], **key: Any) -> list[Change]:
    return [change for change in found if change.key == key]


_schemas: dict[tuple[str, int], Any] = {}


def decoded(record: bytes | None) -> Any:
    """Confluent's wire format: a zero, the schema's id, Avro."""
    if record is None:
        return None
    zero, number = struct.unpack(">bI", record[:5])
    assert zero == 0
    place = (registry_url(), number)
    if place not in _schemas:
        text = ask(f"{place[0]}/schemas/ids/{number}")["schema"]
        _schemas[place] = parse_schema(json.loads(text))
    return schemaless_reader(io.BytesIO(record[5:]), _schemas[place], None)


def _kafka() -> dict[str, Any]:
    return {"bootstrap.servers": settings.kafka_bootstrap()}
