"""What the commands share: tables by name, services in their order, questions, last lines."""

import difflib
import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from lakehouse_assets.lake.lake import Lake
    from lakehouse_assets.lake.table import LakeTable
    from lakehouse_assets.services.service import Service

LAYERS = ("raw", "staging", "semantic", "analytics", "marts", "metadata")
PIPE_WIDTH = 200  # where nobody's screen limits the lines
SHOWN_NAMES = 3
ALIKE = 0.5  # of 1; names less alike than this are not offered


def console(stderr: bool = False) -> "Console":
    from rich.console import Console

    shown = Console(stderr=stderr, highlight=False)
    if not shown.is_terminal:
        shown.width = max(shown.width, PIPE_WIDTH)
    return shown


def tables() -> "dict[str, LakeTable]":
    """Every table by name, parents before children; without Dagster, which takes seconds."""
    from lakehouse_assets.lake.table import discover

    return discover(importlib.import_module(f"lakehouse_assets.{layer}") for layer in LAYERS)


def table_named(name: str) -> "LakeTable":
    known = tables()
    if name not in known:
        raise click.ClickException(unknown("table", name, known))
    return known[name]


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`There is no table x. Did you mean …?`, with the nearest names, or all if none is near."""
    names = list(known)
    near = nearest(name, names)
    hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(names)}."
    return f"There is no {what} {name}. {hint}"


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Alike as a whole or in the last part: who forgets the layer finds the table too."""

    def likeness(candidate: str) -> float:
        forms = (candidate, candidate.split(".")[-1])
        return max(difflib.SequenceMatcher(None, name.lower(), form).ratio() for form in forms)

    ranked = sorted(known, key=likeness, reverse=True)
    return [n for n in ranked if likeness(n) >= ALIKE][:SHOWN_NAMES]


def services() -> "list[list[Service]]":
    """All of them, in the order in which they start; those of one group start side by side."""
    from lakehouse_assets.services.capture import Capture
    from lakehouse_assets.services.connect import Connect
    from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
    from lakehouse_assets.services.generator import generators
    from lakehouse_assets.services.kafka import Kafka
    from lakehouse_assets.services.pages import Pages
    from lakehouse_assets.services.postgres import Postgres
    from lakehouse_assets.services.registry import Registry
    from lakehouse_assets.services.shop import Shop
    from lakehouse_assets.services.spark import Spark
    from lakehouse_assets.services.weather import Weather
    from lakehouse_assets.services.webhooks import Webhooks

    first: list[Service] = [Kafka(), Spark(), CodeServer(), Postgres(), Registry()]
    second: list[Service] = [
        Webserver(), Daemon(), Pages(), Webhooks(), Weather(), Connect(), Shop(),
    ]  # fmt: skip
    return [first, second, [Capture()], [*generators()]]


def chosen(names: Sequence[str]) -> "list[Service]":
    """The services of those names, `dagster` being three of them, `generate` all that make events;
    all if none is named.
    """
    found = {s.name: s for group in services() for s in group}
    families = {n.split("-")[0] for n in found}
    for name in names:
        if name not in found and name not in families:
            raise click.ClickException(unknown("service", name, found))
    wanted = {n for n in found if n in names or n.split("-")[0] in names} if names else set(found)
    return [service for name, service in found.items() if name in wanted]


def require_kafka() -> None:
    """Ours or the one named; another lake's or project's broker is not meant by ours."""
    from lakehouse_assets import settings
    from lakehouse_assets.services.host import port_owner
    from lakehouse_assets.services.kafka import Kafka

    kafka, place = Kafka(), settings.kafka_bootstrap()
    if kafka.answers():
        return
    if named := kafka.external():
        raise click.ClickException(f"Kafka does not answer at LAKEHOUSE_KAFKA={named}.")
    if kafka.probe():
        raise click.ClickException(
            f"The Kafka at {place} is not this lake's: it is {port_owner(settings.port('kafka'))}. "
            f"If that one is meant, say LAKEHOUSE_KAFKA={place}; else start this lake's own on "
            "other ports, e.g. LAKEHOUSE_PORT_OFFSET=100 lakehouse up kafka."
        )
    raise click.ClickException(
        "Kafka is not running. Start it with `lakehouse up kafka`, or name yours in LAKEHOUSE_KAFKA"
    )


def confirm(question: str, yes: bool) -> None:
    """Ask before something cannot be undone; without a terminal only `--yes` is an answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(f"{question} There is no terminal to ask at: say --yes.")
    click.confirm(question, abort=True, err=True)


def last_line(said: dict[str, Any]) -> None:
    """What `--json` promises: one object, on the last line."""
    click.echo(json.dumps(said, default=str, ensure_ascii=False))


def tell_of_spark() -> None:
    """Ten seconds without a word would look like a hang."""
    from lakehouse_assets.services.spark import Spark

    if not Spark().external() and not Spark().probe():
        click.echo("Spark is not running: starting it (`lakehouse down` stops it)", err=True)


@contextmanager
def lake(run: str) -> "Iterator[Lake]":
    """The lake for one command; `run` is what its commits say of who made them."""
    from lakehouse_assets.lake.lake import Lake

    opened = Lake(run=run)
    try:
        yield opened
    finally:
        opened.close()
