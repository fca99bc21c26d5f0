"""The schema registry (Apicurio), which speaks Confluent's API too: what an id in a record means.

An id that was handed out must never mean another schema. So it keeps its schemas in a database file
of its own and writes at once: H2 writes by default half a second later, and a killed one then gives
the lost ids to other schemas. Kafka as the store would make every start wait for ten seconds,
Postgres would let it run no longer than the shop's database does.
"""

import os
from typing import Any
from urllib.parse import quote

from lakehouse_assets import settings
from lakehouse_assets.services import jars, java
from lakehouse_assets.services.host import HOST, ServiceError, answers
from lakehouse_assets.services.rest import Refused, ask
from lakehouse_assets.services.service import Service

HEAP = "256m"
CONFLUENT = "apis/ccompat/v7"
NATIVE = "apis/registry/v3"
COMPATIBILITY = "BACKWARD"  # who knows the new schema can read what was written by the old one
PATIENCE_S = 10
MAX_VERSIONS = 100  # of one subject that are looked at, the newest
NO_SUBJECT = 40401  # its own word for a subject of which it knows nothing; a wrong server says 404

OPTIONS = {
    "quarkus.http.host": HOST,
    "quarkus.management.host": HOST,
    "quarkus.http.access-log.enabled": "false",
    'quarkus.log.category."io.apicurio".level': "WARN",
    "apicurio.storage.kind": "sql",
    "apicurio.storage.sql.kind": "h2",
    # Of twenty connections to a file most would idle.
    "apicurio.datasource.jdbc.initial-size": "1",
    "apicurio.datasource.jdbc.min-size": "1",
    "apicurio.datasource.jdbc.max-size": "8",
}


class Registry(Service):
    name = "registry"
    port_names = ("registry",)
    setting = "LAKEHOUSE_REGISTRY"
    is_optional = True

    def external(self) -> str | None:
        return os.environ.get(self.setting) or None

    def prepare(self) -> None:
        jars.resolve_jars(["registry"])
        if ";" in str(self.folder):
            raise ServiceError(
                f"registry: {self.folder} has a semicolon, which H2 takes for the end of a file's"
                " name. Let LAKEHOUSE_HOME name a folder without one."
            )

    def env(self) -> dict[str, str]:
        """The starter's settings of other Quarkus programs are not meant for this one."""
        theirs = ("QUARKUS_", "APICURIO_")
        return {k: v for k, v in super().env().items() if not k.startswith(theirs)} | java.LOCALE

    def command(self) -> list[str]:
        told = OPTIONS | {
            "quarkus.http.port": str(settings.port("registry")),
            "apicurio.datasource.url": f"jdbc:h2:file:{self.folder / 'schemas'};WRITE_DELAY=0",
            "apicurio.import.work-dir": str(self.folder / "scratch"),
            "apicurio.storage.snapshot.location": str(self.folder / "scratch"),
        }
        options = [f"-Xmx{HEAP}", *java.FRUGAL]
        options += [f"-D{key}={value}" for key, value in told.items()]
        main = "io.quarkus.runner.GeneratedMain"
        return java.command(jars.unpacked("registry"), main, options=options, folder=self.folder)

    def start(self) -> bool:
        started = super().start()
        if not self.external():
            self._require_compatibility()
        return started

    def probe(self) -> bool:
        return answers(f"{registry_url()}/config", "compatibilityLevel")

    def _require_compatibility(self) -> None:
        place = f"{registry_url()}/config"
        if ask(place)["compatibilityLevel"] != COMPATIBILITY:
            ask(place, "PUT", {"compatibility": COMPATIBILITY})


def registered(subject: str) -> list[dict[str, Any]]:
    """Every schema of a subject with its id, newest first; none if nobody registered one."""
    place = f"{registry_url()}/subjects/{quote(subject)}/versions"
    try:
        numbers = _numbers(place)
        newest = sorted(numbers, reverse=True)[:MAX_VERSIONS]
        return [ask(f"{place}/{number}", patience_s=PATIENCE_S) for number in newest]
    except ServiceError as error:
        raise ServiceError(
            f"the schema registry does not answer ({error}); start it with `lakehouse up "
            "registry`, or name yours in LAKEHOUSE_REGISTRY"
        ) from error


def _numbers(place: str) -> list[int]:
    try:
        found: list[int] = ask(place, patience_s=PATIENCE_S)
    except Refused as error:
        if error.code != NO_SUBJECT:
            raise
        return []
    return found


def registry_url(api: str = CONFLUENT) -> str:
    """Where Confluent's API is, or Apicurio's own (NATIVE)."""
    base = os.environ.get(Registry.setting) or f"http://{HOST}:{settings.port('registry')}"
    return f"{base.rstrip('/')}/{api}"
