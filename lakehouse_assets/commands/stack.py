"""`up`, `down`, `restart`, `wipe`, `status`, `logs`: the services of this lake."""

import dataclasses
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import common, running

if TYPE_CHECKING:
    from rich.console import Console

    from lakehouse_assets.services.service import Service

NAMES = click.argument("names", nargs=-1, metavar="[NAME…]")
# All that `wipe` deletes; never the whole folder, which may have been pointed at something else.
DATA = (
    "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.db-journal", "warehouse", "landing",
    "commit_logs", "column_lineage", "dagster-dev",
    "kafka", "spark", "dagster", "webhooks", "postgres", "registry", "connect", "capture", "shop",
    "weather", "pages", "generate-*", "logs", "first_hour", "secrets.env", "run",
)  # fmt: skip
TAIL_BYTES = 200_000
FOLLOW_S = 0.3


@click.command()
@NAMES
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End by itself after SECONDS.")
@click.option("--no-generate", is_flag=True, help="No events: only services, sensors and the UI.")
def up(names: tuple[str, ...], seconds: float | None, no_generate: bool) -> None:
    """Bring the lake to life and watch it.

    Without a name, or with a source's (`up payments`): starts what it needs and its generator, then
    shows the tables live; Ctrl-C stops what this command started and nothing else.

    With services' names only (`up kafka spark`): starts those and returns; `lakehouse down`
    stops them.
    """
    from lakehouse_assets.commands import live

    wanted, watching = _wanted(names, no_generate)
    services = [service for group in wanted for service in group]
    console, keep = common.console(), False
    started: list[Service] = []
    with running.interruptible():
        try:
            running.start_groups(wanted, started, console)
            _tell(console, [s.name for s in services])
            if watching:
                live.watch(console, seconds, live.headline(services))
            keep = not watching
        except KeyboardInterrupt:
            pass  # that is how one leaves; of an interrupted start, too, nothing may be left
        finally:
            if not keep:
                running.stop(started, console)


@click.command()
@NAMES
def down(names: tuple[str, ...]) -> None:
    """Stop this lake's services, or those named; its data stays."""
    console = common.console()
    if not running.stop(common.chosen(names), console):
        console.print("nothing was running")


@click.command()
@NAMES
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="As of `up`.")
@click.option("--no-generate", is_flag=True, help="As of `up`.")
@click.pass_context
def restart(
    ctx: click.Context, names: tuple[str, ...], seconds: float | None, no_generate: bool
) -> None:
    """`down`, then `up`, with the same names."""
    wanted, _ = _wanted(names, no_generate=False)
    running.stop([s for group in wanted for s in group], common.console())
    ctx.invoke(up, names=names, seconds=seconds, no_generate=no_generate)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def wipe(yes: bool) -> None:
    """Stop everything and delete this lake's data: tables, topics, runs, logs. Jars stay."""
    home = settings.home()
    common.confirm(f"Delete all tables, topics, runs and logs in {home}?", yes)
    console = common.console()
    running.stop(common.chosen([]), console)
    for path in [path for name in DATA for path in home.glob(name)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    console.print(f"deleted the data in {home}; the jars stay", soft_wrap=True)
    places = (settings.warehouse(), settings.landing(), settings.commit_logs())
    for place in (*places, settings.catalog_uri()):
        file = place.removeprefix(settings.SQLITE).split("?")[0]
        if "://" in file or Path(file).exists():
            told = settings.without_password(place)
            console.print(f"not deleted, by your settings it is elsewhere: {told}", soft_wrap=True)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def status(as_json: bool) -> None:
    """Services; tables with rows, lag, freshness and last checks. Starts nothing, needs nothing."""
    from lakehouse_assets.commands import glance, live

    services = live.statuses()
    tables = glance.glances(live.kafka_answers())
    if as_json:
        common.last_line({
            "home": str(settings.home()),
            "services": {s.name: dataclasses.asdict(s) for s in services},
            "tables": {
                name: {
                    "rows": g.rows, "snapshots": g.snapshots, "commit": g.commit, "lag": g.lag,
                    "behind": g.behind, "freshness_s": round(g.freshness_s, 1), "checks": g.checks,
                    "failing": g.failing(), "held": g.held, "note": g.note,
                }
                for name, g in tables.items()
            },
            "checks": glance.summed(tables),
        })  # fmt: skip
        return
    console = common.console()
    console.print(live.service_table(services))
    console.print()
    console.print(live.lake_table(tables))


@click.command()
@click.argument("name", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is written, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=40, show_default=True)
def logs(name: str | None, follow: bool, lines: int) -> None:
    """The end of a service's log, or of all."""
    found = {p.stem: p for p in sorted((settings.home() / "logs").glob("*.log"))}
    if name and name not in found:
        if not found:
            raise click.ClickException("There are no logs yet: nothing was started in this lake.")
        raise click.ClickException(common.unknown("log", name, found))
    shown = {name: found[name]} if name else found
    places = {}
    for title, path in shown.items():
        with path.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - TAIL_BYTES))
            text = log.read().decode(errors="replace").splitlines()
            places[title] = log.tell()
        for line in text[-lines:] if lines else []:
            click.echo(f"{title} | {line}" if len(shown) > 1 else line)
    while follow:
        time.sleep(FOLLOW_S)
        for title, path in shown.items():
            places[title] = _more(title, path, places[title], len(shown) > 1)


def _more(title: str, path: Path, place: int, named: bool) -> int:
    """What was written since; from the start if the log was set aside meanwhile."""
    if path.stat().st_size < place:
        place = 0
    with path.open("rb") as log:
        log.seek(place)
        whole, newline, _ = log.read(TAIL_BYTES).rpartition(b"\n")
    for line in whole.decode(errors="replace").splitlines():
        click.echo(f"{title} | {line}" if named else line)
    return place + len(whole) + len(newline)


def _wanted(names: Sequence[str], no_generate: bool) -> "tuple[list[list[Service]], bool]":
    """What to start, group by group, and whether to stay and watch."""
    from lakehouse_assets.services.generator import NEEDS, SOURCES, Generator

    everything = common.services()
    known = [s.name for group in everything for s in group]
    for name in names:
        if name not in known and name not in SOURCES:
            every = [*SOURCES, *known]
            raise click.ClickException(common.unknown("service or source", name, every))
    sources = [n for n in names if n in SOURCES] if names else list(SOURCES)
    if sources:  # which need everything but other sources
        whole = [Generator(s) for s in sources if not no_generate]
        # Where feeds run already that were begun apart, all of them would be some of them twice.
        alone = [g for g in whole if all(t.status().state == "stopped" for t in g.twins())]
        others = {s.name for group in everything[:-1] for s in group if not s.is_optional}
        needed = {name for source in sources for name in NEEDS.get(source, ())}
        named = {g.name for g in alone} | {*names} | needed | others
    else:
        named = {s.name for s in common.chosen(names)}
    return [[s for s in group if s.name in named] for group in everything], bool(sources)


def _tell(console: "Console", names: list[str]) -> None:
    """Where everything is."""
    from lakehouse_assets.services.host import HOST

    port = settings.port
    places = {
        "dagster": ("Dagster UI", f"http://{HOST}:{port('dagster')}"),
        "pages": ("Pages", f"http://{HOST}:{port('pages')}"),
        "spark": ("Spark UI", f"http://{HOST}:{port('spark_ui')}"),
        "kafka": ("Kafka", settings.kafka_bootstrap()),
        "webhooks": ("Webhooks", f"http://{HOST}:{port('webhooks')}/docs"),
        "weather": ("Weather", f"http://{HOST}:{port('weather')}/docs"),
        "shop": ("Shop", f"http://{HOST}:{port('shop')}/docs"),
        "postgres": ("Postgres", f"{HOST}:{port('postgres')}"),
        "registry": ("Schemas", f"http://{HOST}:{port('registry')}"),
        "connect": ("Connect", f"http://{HOST}:{port('connect')}"),
    }
    for name, (title, place) in places.items():
        if name in names:
            console.print(f"  {title:<11} {place}", soft_wrap=True)


COMMANDS = (up, down, restart, wipe, status, logs)
