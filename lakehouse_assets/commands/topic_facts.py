"""What Kafka, the tables and the registry tell of topics: asked at once for all, and bounded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from confluent_kafka import IsolationLevel, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from lakehouse_assets import settings
from lakehouse_assets.commands import common
from lakehouse_assets.services import kafka as service
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.registry import registry_url
from lakehouse_assets.services.rest import Refused, ask
from lakehouse_assets.topics.avro import spark_type
from lakehouse_assets.topics.kafka import TIMEOUT_S, Kafka
from lakehouse_assets.topics.registry import Written

if TYPE_CHECKING:
    from lakehouse_assets.lake.table import LakeTable

REGISTRY_S = 3  # what a topic's bytes are can be guessed without it
DEFAULT = 5  # Kafka's number for a setting that nobody made


@dataclass(frozen=True)
class Partition:
    """`begin` and `end` are the first offset that is there and the one after the last committed;
    markers of transactions have offsets, too.
    """

    begin: int
    end: int
    leader: int | None
    replicas: list[int]
    in_sync: list[int]


@dataclass(frozen=True)
class About:
    """A topic, as its broker and its readers have it."""

    name: str
    id: str
    partitions: dict[int, Partition]
    settings: dict[str, str]
    set_here: dict[str, str]  # of those the ones that are no default
    tables: list[str] = field(default_factory=list)
    format: str = ""  # json or avro; '': nobody says
    bytes: int | None = None  # on the disk of our own broker

    @property
    def records(self) -> int:
        return sum(one.end - one.begin for one in self.partitions.values())


@dataclass(frozen=True)
class Schema:
    """The newest one that values of a topic were written with."""

    subject: str
    id: int
    version: int
    compatibility: str
    fields: dict[str, str]


class Topics(Kafka):
    """All topics at once: a request each would make a list of hundreds slow."""

    def names(self) -> list[str]:
        return sorted(self._admin.list_topics(timeout=TIMEOUT_S).topics)

    def about(self, names: Iterable[str]) -> list[About]:
        asked = [*names]
        if not asked:
            return []
        described = self._ask(self._admin.describe_topics, TopicCollection(asked))
        places = [TopicPartition(n, p.id) for n, d in described.items() for p in d.partitions]
        first, last = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
        begins, ends = self._marks(places, first), self._marks(places, last)
        configs = self._configs(asked)
        readers, registered = readers_of_topics(), _if_it_answers()
        return [
            About(
                name, str(described[name].topic_id),
                {p.id: Partition(
                    begins[name, p.id], ends[name, p.id], p.leader.id if p.leader else None,
                    [n.id for n in p.replicas], [n.id for n in p.isr],
                ) for p in described[name].partitions},
                *configs[name],
                [table.name for table in readers.get(name, [])],
                _format(name, readers, registered), _bytes(name),
            )
            for name in asked
        ]  # fmt: skip

    def _marks(self, places: list[TopicPartition], spec: Any) -> dict[tuple[str, int], int]:
        committed = IsolationLevel.READ_COMMITTED
        wanted = dict.fromkeys(places, spec)
        answers = self._ask(self._admin.list_offsets, wanted, isolation_level=committed)
        return {(tp.topic, tp.partition): result.offset for tp, result in answers.items()}

    def _configs(self, names: list[str]) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        """By topic all settings, and those that somebody made, for it or for the broker."""
        asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
        answers = self._ask(self._admin.describe_configs, asked)
        return {
            resource.name: (
                {e.name: e.value for e in entries.values()},
                {e.name: e.value for e in entries.values() if e.source != DEFAULT},
            )
            for resource, entries in answers.items()
        }


def known(name: str, names: Iterable[str]) -> str:
    """The name, if there is such a topic."""
    there = [*names]
    if name in there:
        return name
    if not there:
        raise click.ClickException(
            f"There is no topic {name}, nor any other: `lakehouse topic {name}` makes it."
        )
    raise click.ClickException(common.unknown("topic", name, there))


def readers_of_topics() -> "dict[str, list[LakeTable]]":
    found: dict[str, list[LakeTable]] = {}
    for table in common.tables().values():
        if table.topic:
            found.setdefault(table.topic, []).append(table)
    return found


def schema_of(topic: str) -> Schema | None:
    """None: nobody has registered one."""
    subject = f"{topic}-value"
    if (newest := latest(subject)) is None:
        return None
    written, version = newest
    rule = _registry(f"config/{quote(subject, safe='')}?defaultToGlobal=true")
    fields = dict(_fields(written.schema))
    return Schema(subject, written.id, version, rule["compatibilityLevel"], fields)


def latest(subject: str) -> tuple[Written, int] | None:
    """A subject's newest schema, and which version of it that is."""
    try:
        newest = _registry(f"subjects/{quote(subject, safe='')}/versions/latest")
    except Refused as error:
        if error.status != 404:
            raise
        return None
    return Written(newest["id"], newest["schema"]), newest["version"]


def subjects() -> set[str]:
    return set(_registry("subjects"))


def _registry(what: str) -> Any:
    try:
        return ask(f"{registry_url()}/{what}", patience_s=REGISTRY_S)
    except Refused:
        raise
    except ServiceError as error:
        raise ServiceError(
            f"the schema registry does not answer ({error}); start it with `lakehouse up "
            "registry`, or name yours in LAKEHOUSE_REGISTRY"
        ) from error


def _fields(avro: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a record, by its path, and what it is; of a change `before` is as `after`."""
    if not (isinstance(avro, dict) and avro.get("type") == "record"):
        yield path or "value", spark_type(avro)
        return
    for one in avro["fields"]:
        kinds = one["type"] if isinstance(one["type"], list) else [one["type"]]
        optional = ", optional" if "null" in kinds else ""
        some = [kind for kind in kinds if kind != "null"]
        inner = some[0] if len(some) == 1 else some
        name = f"{path}{one['name']}"
        if isinstance(inner, dict) and inner["type"] == "record":
            if one["name"] == "before":
                yield name, f"as after{optional}"
            else:
                yield from _fields(inner, f"{name}.")
            continue
        meaning = inner.get("connect.name", "") if isinstance(inner, dict) else ""
        said = f" ({meaning})" if meaning.startswith("io.debezium.") else ""
        yield name, f"{spark_type(inner)}{said}{optional}"


def _if_it_answers() -> set[str]:
    """A list of topics needs no registry."""
    try:
        return subjects()
    except ServiceError:
        return set()


def _format(name: str, readers: "dict[str, list[LakeTable]]", registered: set[str]) -> str:
    from lakehouse_assets.topics.parse import raw_contract

    if name in readers:
        return raw_contract(readers[name][0]).codec
    return "avro" if f"{name}-value" in registered else ""


def _bytes(name: str) -> int | None:
    if service.Kafka().external():
        return None
    folders = (settings.home() / "kafka" / "data").glob(f"{name}-*")
    mine = [f for f in folders if f.name.removeprefix(f"{name}-").isdigit()]
    return sum(log.stat().st_size for folder in mine for log in folder.glob("*.log"))
