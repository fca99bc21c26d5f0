"""Kafka Connect's connectors: those that deploy/connectors/ describes, and what becomes of them.

A template leaves open where things are; that is filled in here. Passwords it only names, as
variables of the worker's environment, so they stand in no topic and in no answer.
"""

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from lakehouse_assets import settings
from lakehouse_assets.services.connect import connect_url
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.postgres import server
from lakehouse_assets.services.publication import (
    drop_slot,
    elsewhere,
    published,
    require_database,
    slot_is_lost,
)
from lakehouse_assets.services.registry import NATIVE, registry_url
from lakehouse_assets.services.rest import Refused, ask

KIND = ".template.json"
STOPPING_S, STARTING_S = 30, 30
RESETS = 3
PAUSE_S = 0.2
HOUR_MS = 3_600_000
MEANT = {  # by what the registry's client throws without a word
    "RuleViolationProblemDetails": "the registry refuses a schema as incompatible with the one "
    "before: a column of a captured table got another type",
}

Config = dict[str, str]


@dataclass(frozen=True)
class Health:
    """A connector as Connect sees it; `trouble` is the first failure's first line."""

    name: str
    state: str
    tasks: tuple[str, ...]
    trouble: str = ""

    @property
    def is_failed(self) -> bool:
        return "FAILED" in (self.state, *self.tasks)

    @property
    def is_stopped(self) -> bool:
        return self.state == "STOPPED" and not self.tasks

    @property
    def is_running(self) -> bool:
        return bool(self.tasks) and {self.state, *self.tasks} == {"RUNNING"}


def templates() -> dict[str, Path]:
    """By connector."""
    found = sorted((settings.ROOT / "deploy" / "connectors").glob(f"*{KIND}"))
    return {path.name.removesuffix(KIND): path for path in found}


def described(name: str) -> Config:
    """The connector's configuration as it should be, here and now."""
    raw: Config = json.loads(templates()[name].read_text())
    host, port = server()
    hours = os.environ.get("LAKEHOUSE_KAFKA_RETENTION_HOURS") or 168
    filled = {
        "POSTGRES_HOST": host,
        "POSTGRES_PORT": port,
        "REGISTRY_URL": registry_url(NATIVE),
        "RETENTION_MS": int(hours) * HOUR_MS,
        "TABLES": published(raw),
    }
    return {key: Template(value).substitute(filled) for key, value in raw.items()}


def register(name: str) -> bool:
    """Make Connect run it as described; False: it does already."""
    wanted = described(name) | {"name": name}
    try:
        if ask(_place(name, "config")) == wanted:
            return False
    except Refused as error:
        if error.status != 404:
            raise
    ask(_place(name, "config"), "PUT", wanted)
    return True


def healths() -> dict[str, Health]:
    """Of every connector that Connect knows."""
    told = ask(f"{connect_url()}/connectors?expand=status")
    return {name: _health(name, each["status"]) for name, each in sorted(told.items())}


def stuck(name: str) -> str:
    """Why it cannot go on though Connect sees nothing wrong; empty also where nobody can say."""
    with suppress(ServiceError):
        if slot_is_lost(_configured(name)):
            return (
                "the database has let go of log that its replication slot needs, and what was "
                f"changed there was never captured. `lakehouse connectors reset {name}` reads all "
                "its tables anew"
            )
    return ""


def restart(name: str, only_failed: bool = False) -> None:
    which = f"restart?includeTasks=true&onlyFailed={str(only_failed).lower()}"
    ask(_place(name, which), "POST")


def reset(name: str) -> None:
    """Forget how far it was, so that it begins with a snapshot of its tables; refused where the
    slot is not ours to drop: what it kept would come again after the snapshot.

    A task that waited for a lost slot may live on for a moment after its end was noted, and make
    the new slot just before the new task would, which then fails: so it begins again.
    """
    if there := elsewhere(_configured(name)):
        raise ServiceError(
            f"{name} is left as it was: {there}. Let `lakehouse connectors delete {name}` go first,"
            " then drop the slot there, then register it anew."
        )
    for _ in range(RESETS):
        _forget(name)
        ask(_place(name, "resume"), "PUT")
        health = _awaited(name, lambda health: health.is_running or health.is_failed, STARTING_S)
        if not health.is_failed:
            return
    raise ServiceError(
        f"{name} forgot how far it was, and fails when it starts: {health.trouble}. "
        f"`lakehouse logs connect` may say more; then `lakehouse connectors restart {name}`."
    )


def delete(name: str) -> str:
    """With its place and its slot, for which the database would keep its log. Of a database that
    is not ours only words: what is to be dropped there.
    """
    there = elsewhere(_configured(name))
    _forget(name)
    ask(_place(name), "DELETE")
    return there


def _forget(name: str) -> None:
    config = _configured(name)
    has_slot = "slot.name" in config and not elsewhere(config)
    if has_slot:
        require_database(config)  # once the place is gone it would be too late to say so
    ask(_place(name, "stop"), "PUT")
    health = _awaited(name, lambda health: health.is_stopped, STOPPING_S)
    if not health.is_stopped:
        raise ServiceError(
            f"{name} is still {health.state} {STOPPING_S} s after it was asked to stop. "
            "`lakehouse logs connect` may say why; then try again."
        )
    ask(_place(name, "offsets"), "DELETE")
    if has_slot:
        drop_slot(config)


def _configured(name: str) -> Config:
    found: Config = ask(_place(name, "config"))
    return found


def _place(name: str, what: str = "") -> str:
    return f"{connect_url()}/connectors/{quote(name, safe='')}" + (f"/{what}" if what else "")


def _awaited(name: str, is_so: Callable[[Health], bool], seconds: float) -> Health:
    """As it is once that is so, or has not come to be so for long."""
    deadline = time.monotonic() + seconds
    while not is_so(health := _health(name, ask(_place(name, "status")))):
        if time.monotonic() > deadline:
            break
        time.sleep(PAUSE_S)
    return health


def _health(name: str, told: dict[str, Any]) -> Health:
    parts = [told["connector"], *told["tasks"]]
    traces = [part["trace"] for part in parts if part.get("trace")]
    tasks = tuple(task["state"] for task in told["tasks"])
    return Health(name, told["connector"]["state"], tasks, _cause(traces[0]) if traces else "")


def _cause(trace: str) -> str:
    """The last cause of a Java trace says most, unless it is a bare name."""
    causes = re.findall(r"^Caused by: (.*)$", trace, re.MULTILINE)
    last = str(causes[-1] if causes else trace.splitlines()[0])
    return next((text for name, text in MEANT.items() if last.endswith(name)), last)
