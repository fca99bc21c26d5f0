"""The Avro schemas that a topic's records were written with, as the registry tells them."""

import io
import json
import struct
from typing import Any, NamedTuple
from urllib.parse import quote

from fastavro import parse_schema, schemaless_reader
from fastavro.schema import expand_schema

from lakehouse_assets.services.registry import registry_url
from lakehouse_assets.services.rest import Refused, ask

HEAD = 5  # bytes before the Avro: a zero, then the schema's id
UNREADABLE = (ValueError, EOFError, IndexError, KeyError, OverflowError, struct.error)


class Written(NamedTuple):
    """One schema, to read with and to look at: there names stand for themselves no more."""

    reader: Any
    parts: dict[str, Any]  # the record's fields by name

    def read(self, body: bytes) -> Any:
        return schemaless_reader(io.BytesIO(body), self.reader, None)


Schemas = dict[int, Written]  # by the id in a record's first bytes


def written(text: str) -> Written:
    schema = json.loads(text)
    return Written(parse_schema(schema), parts(expand_schema(schema)))


def parts(avro: Any) -> dict[str, Any]:
    """An object's members by name; nothing for a value."""
    avro = without_null(avro)
    if not isinstance(avro, dict) or avro.get("type") != "record":
        return {}
    return {field["name"]: field["type"] for field in avro["fields"]}


def without_null(avro: Any) -> Any:
    others = [one for one in avro if one != "null"] if isinstance(avro, list) else [avro]
    return others[0] if len(others) == 1 else avro


def registered(topic: str) -> Schemas:
    """Every schema of the topic's values; none of a topic to which nobody wrote."""
    subject = f"{registry_url()}/subjects/{quote(topic)}-value/versions"
    try:
        told = [ask(f"{subject}/{number}") for number in ask(subject)]
    except Refused as refused:
        if refused.status == 404:
            return {}
        raise
    return {one["id"]: written(one["schema"]) for one in told}
