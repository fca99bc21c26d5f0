"""Topics and schemas for the tests of what is looked at, and the commands in this process."""

import io
import json
from typing import Any

import fastavro
from click.testing import CliRunner, Result

from lakehouse_assets.cli import main
from lakehouse_assets.services.registry import registry_url
from lakehouse_assets.services.rest import ask
from lakehouse_assets_tests.support import fresh_topic
from lakehouse_assets_tests.topics.records import make_topic

CHARGES, ORDERS = "payment_charges", "storefront.public.orders"
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
ROW = {"type": "record", "name": "Row", "fields": [
    {"name": "id", "type": "long"}, {"name": "total", "type": MONEY},
    {"name": "note", "type": ["null", "string"], "default": None},
]}  # fmt: skip
CHANGE = {"type": "record", "name": "Envelope", "fields": [
    {"name": "before", "type": ["null", ROW], "default": None},
    {"name": "after", "type": ["null", "Row"], "default": None}, {"name": "op", "type": "string"},
]}  # fmt: skip


def made(name: str) -> str:
    fresh_topic(name)
    return make_topic(name, partitions=2, cleanup_policy="delete", retention_ms="7200000")


def called(*args: str) -> Result:
    return CliRunner().invoke(main, [*args])


def said(*args: str) -> str:
    done = called(*args)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*args: str) -> str:
    done = called(*args)
    assert done.exit_code and isinstance(done.exception, SystemExit), done.exception
    return done.output


def objects(*args: str) -> list[Any]:
    return [json.loads(line) for line in said("topics", *args, "--json").splitlines()]


def values(*args: str) -> list[Any]:
    return [one["value"] for one in objects("peek", *args)]


def register(subject: str, schema: dict[str, Any]) -> int:
    """The id that the registry gives it."""
    place = f"{registry_url()}/subjects/{subject}/versions"
    return int(ask(place, "POST", {"schema": json.dumps(schema)})["id"])


def avro(number: int, schema: dict[str, Any], value: Any) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return b"\0" + number.to_bytes(4, "big") + body.getvalue()


def texts(*numbers: int) -> list[bytes]:
    return [b'{"n": %d}' % n for n in numbers]
