"""A record as people read it: decoded as its topic's table does, or with the reason why not; what
is private masked. Nothing that a record holds makes this fail.
"""

import io
import json
from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Message

from lakehouse_assets import settings
from lakehouse_assets.lake.bases import COORDINATES
from lakehouse_assets.lake.quality import MASK
from lakehouse_assets.lake.schema import members
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.registry import registry_url
from lakehouse_assets.services.rest import Refused, ask
from lakehouse_assets.topics.avro import HEAD
from lakehouse_assets.topics.parse import raw_contract

if TYPE_CHECKING:
    from lakehouse_assets.lake.table import LakeTable

REGISTRY_S = 5


class Undecodable(Exception):
    """Why a record's bytes are not what they should be."""


class Read(NamedTuple):
    """What some bytes are: a value, or a problem; and the Avro schema's id, if they have one."""

    value: Any
    problem: str = ""
    schema: int | None = None


class Reader:
    """Reads records of one topic. Without a table nobody says what is in it, nor what is private:
    Avro is told by its first bytes.
    """

    def __init__(self, table: "LakeTable | None", reveal: bool) -> None:
        contract = raw_contract(table) if table else None
        self._codec = contract.codec if contract else ""
        self._file = contract.schema_file if contract else ""
        self._known: dict[str, str] | None = None
        self._private: set[str] = set()
        if contract and not reveal:
            own = {c.field or n: c for n, c in contract.columns.items()
                   if n not in COORDINATES and not c.made}  # fmt: skip
            self._known = {name: c.type for name, c in own.items()}
            self._private = {name for name, c in own.items() if c.pii}
        key = contract.columns.get("kafka_key") if contract else None
        self._masks_key = bool(key and key.pii and not reveal)

    @property
    def masked(self) -> list[str]:
        """What is private, by name, where it is not revealed."""
        return sorted(self._private)

    def told(self, message: Message) -> dict[str, Any]:
        """Everything of a record, as `--json` prints it."""
        kind, ms = message.timestamp()
        data = message.value()
        found = self.read(data) if data is not None else Read(None)
        key = self.key(message.key())
        return {
            "topic": message.topic(), "partition": message.partition(), "offset": message.offset(),
            "at": datetime.fromtimestamp(ms / 1000, timezone.utc).isoformat(),
            "clock": "Kafka" if kind == TIMESTAMP_LOG_APPEND_TIME else "producer",
            "key": MASK if self._masks_key and key is not None else key,
            "headers": _headers(message),
            "is_tombstone": data is None, "bytes": len(data or b""), "schema": found.schema,
            "value": self._shown(found, data), "problem": found.problem,
        }  # fmt: skip

    def read(self, data: bytes) -> Read:
        """Unmasked: what a search looks at."""
        has_id = len(data) >= HEAD and data[0] == 0
        if self._codec == "avro-file":
            return _plain_avro(data, self._file)
        if self._codec == "avro" or (has_id and not self._codec):
            return _avro(data)
        return _json(data)

    def key(self, data: bytes | None) -> Any:
        """Keys are text, or Avro where values are."""
        if data is not None and len(data) >= HEAD and data[0] == 0 and self._codec != "json":
            found = _avro(data)
            return _text(data) if found.problem else found.value
        return _text(data)

    def _shown(self, found: Read, data: bytes | None) -> Any:
        if data is None:
            return None
        if self._known is None:
            return found.value
        if found.problem or not isinstance(found.value, dict):
            return f"{MASK} ({len(data):,} bytes)"  # nobody can say what is private in it
        return {name: self._part(name, value) for name, value in found.value.items()}

    def _part(self, name: str, value: Any) -> Any:
        known = self._known or {}
        return value if name in known and name not in self._private else _masked(
            value, known.get(name, "")
        )  # fmt: skip


def _headers(message: Message) -> list[tuple[str, str | None]]:
    said = message.headers() or []
    pairs = said.items() if isinstance(said, dict) else said
    return [(name, _text(value)) for name, value in pairs]


def _masked(value: Any, kind: str) -> Any:
    """Of an object with declared members these are named, as which of them are there."""
    if value is None:
        return None
    if isinstance(value, dict) and kind.startswith("struct<"):
        declared = dict(members(kind))
        return {name: _masked(part, declared.get(name, "")) for name, part in value.items()}
    return MASK


def _json(data: bytes) -> Read:
    try:
        return Read(json.loads(data.decode(), parse_constant=_no_number))
    except RecursionError:
        return Read(_text(data), "not JSON that can be read: too many objects in one another")
    except ValueError as error:
        return Read(_text(data), f"not JSON: {error}")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _avro(data: bytes) -> Read:
    if len(data) < HEAD or data[0] != 0:
        return Read(data.hex(), "no schema id")
    number = int.from_bytes(data[1:HEAD], "big")
    try:
        schema = _schema(number)
        if isinstance(schema, str):
            raise Undecodable(schema)
        return Read(_decoded(data[HEAD:], schema, f"schema {number}"), schema=number)
    except Undecodable as error:
        return Read(data.hex(), str(error), number)


def _plain_avro(data: bytes, file: str) -> Read:
    from fastavro import parse_schema

    schema = parse_schema(json.loads((settings.ROOT / file).read_text(encoding="utf-8")))
    try:
        return Read(_decoded(data, schema, file))
    except Undecodable as error:
        return Read(data.hex(), str(error))


def _decoded(body: bytes, schema: Any, name: str) -> Any:
    from fastavro import schemaless_reader

    stream = io.BytesIO(body)
    try:
        value = schemaless_reader(stream, schema, None)
    except Exception as error:  # whatever bytes that are no Avro make of it
        said = str(error) or type(error).__name__
        raise Undecodable(f"malformed, by {name}: {said}") from error
    if rest := len(body) - stream.tell():
        raise Undecodable(f"malformed, by {name}: {rest} bytes too many")
    return value


@cache
def _schema(number: int) -> Any:
    """A writer's schema by its id, or why there is none; each is asked for once."""
    from fastavro import parse_schema
    from fastavro.schema import SchemaParseException, UnknownType

    try:
        told = ask(f"{registry_url()}/schemas/ids/{number}", patience_s=REGISTRY_S)
        return parse_schema(json.loads(told["schema"]))
    except Refused as error:
        if error.status != 404:
            return f"the registry does not tell schema {number}: {error}"
        return f"unknown schema {number}"
    except ServiceError as error:
        return f"the schema registry does not answer ({error}); `lakehouse up registry` starts it"
    except (ValueError, SchemaParseException, UnknownType) as error:
        return f"schema {number} is no Avro: {error}"


def _text(data: bytes | str | None) -> str | None:
    """Bytes as text, if they are printable text; else in hexadecimal."""
    if not isinstance(data, bytes):
        return data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data.hex()
    return text if all(c.isprintable() or c in "\t\r\n" for c in text) else data.hex()


def spelled(value: Any, pretty: bool = False) -> str:
    """As JSON; what JSON has no word for as text, what no terminal can print escaped."""
    try:
        text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2 if pretty else None)
    except RecursionError:
        return '"too many objects in one another to be shown"'
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime) else str(value)
