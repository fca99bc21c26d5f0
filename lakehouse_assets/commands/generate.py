"""`lakehouse generate`, `topic`: events of a source, at once or in the background; what takes them.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Sequence

import click

from lakehouse_assets.commands import common
from lakehouse_assets.services.generator import SOURCES, Generator, feeds
from lakehouse_assets.sources.dirt import read_rates

TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")  # what Kafka takes for a name


def _usual_dirt(source: str) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The kinds' rates, and those of each topic; some sources have none."""
    if importlib.util.find_spec(f"lakehouse_assets.sources.{source}.dirt") is None:
        return {}, {}
    dirt = importlib.import_module(f"lakehouse_assets.sources.{source}.dirt")
    return dirt.Dirt().rates(), dirt.KINDS


class _WithKinds(click.Command):
    """Its help ends with the kinds of dirt, which are only looked up for it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for source in SOURCES:
            rates, _ = _usual_dirt(source)
            if not rates:
                continue
            with formatter.section(f"Kinds of dirt in {source}, and their default rates"):
                formatter.write_dl([(kind, f"{rate:g}") for kind, rate in rates.items()])


@click.command(cls=_WithKinds)
@click.argument("source", type=click.Choice(SOURCES))
@click.option("--only", multiple=True, metavar="FEED",
              help="Send these alone, e.g. --only refunds; repeatable.")  # fmt: skip
@click.option("--count", type=click.IntRange(0),
              help="Records to send, or transactions; default: without end.")  # fmt: skip
@click.option(
    "--rate",
    type=click.FloatRange(0),
    help="Charges, webhooks of all vendors, the shop's transactions, readings, or lineage events, a"
    " second; 0: as fast as can be.",
)
@click.option("--seed", type=int, help="Other seed, other events.")
@click.option(
    "--dirt",
    multiple=True,
    metavar="KIND=RATE",
    help="Share of the records with this kind of dirt, 0 to 1; repeatable.",
)
@click.option("--cities", type=click.IntRange(1), help="Of weather: so many that are made up.")
@click.option("--background", is_flag=True, help="Go on after this returns; `lakehouse logs`.")
def generate(
    source: str,
    only: tuple[str, ...],
    count: int | None,
    rate: float | None,
    seed: int | None,
    dirt: tuple[str, ...],
    cities: int | None,
    background: bool,
) -> None:
    """Send a SOURCE's events, payments and lineage to Kafka, webhooks to their door, weather to its
    logging server, or let things happen in the storefront's database, until Ctrl-C or --count of
    them.
    """
    _check_dirt(source, dirt)
    if cities and source != "weather":
        raise click.ClickException(f"There are no --cities in {source}.")
    NEEDED[source]()
    given = {"--count": count, "--rate": rate, "--seed": seed, "--cities": cities}
    args = [f"{name}={value}" for name, value in given.items() if value is not None]
    args += [f"--dirt={one}" for one in dirt]
    for feed in only:
        if not feeds(source):
            raise click.ClickException(f"{source} has no feeds: it is sent whole, without --only.")
        if feed not in feeds(source):
            raise click.ClickException(common.unknown(f"feed of {source}", feed, feeds(source)))
    if not background:
        args += [f"--only={feed}" for feed in only]
        os.execv(sys.executable, Generator(source, args).command())
    for feed in only or ("",):
        _begin(Generator(source, args, feed))


def _check_dirt(source: str, dirt: Sequence[str]) -> None:
    rates, kinds = _usual_dirt(source)
    if dirt and not rates:
        raise click.ClickException(f"There is no dirt in {source}: what it sends to takes none.")
    try:
        read_rates(dirt, rates, kinds)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _begin(generator: Generator) -> None:
    """In the background, and nowhere twice."""
    for twin in generator.twins():
        if twin.status().state == "running":
            raise click.ClickException(
                f"{twin.name} runs already and sends some of the same events. "
                f"`lakehouse down {twin.name}` stops it"
            )
    if not generator.start():
        raise click.ClickException(
            f"{generator.name} runs already. `lakehouse down {generator.name}` stops it, "
            "then start it with other figures."
        )
    click.echo(
        f"{generator.name} runs; its log: {generator.log}. "
        f"Stop it with `lakehouse down {generator.name}`"
    )


@click.command()
@click.argument("name", required=False)
@click.option("--partitions", type=click.IntRange(1), default=4, show_default=True)
def topic(name: str | None, partitions: int) -> None:
    """Make the Kafka topic NAME, for a raw table to read. Without a name: the topics there are."""
    from lakehouse_assets.sources.produce import ensure_topic, topics

    common.require_kafka()
    known = topics()
    if name is None:
        for each, count in known.items():
            click.echo(f"{each}: {count} partitions")
    elif name in known:
        click.echo(f"{name} stands already, with {known[name]} partitions.")
    elif not TOPIC.fullmatch(name):
        raise click.ClickException(f"{name} is no topic's name: letters, digits, dot, dash and _.")
    else:
        ensure_topic(name, partitions)
        click.echo(f"{name} made, with {partitions} partitions.")


def _require_door() -> None:
    """Which alone knows whether Kafka is there, and says so."""
    from lakehouse_assets.services.webhooks import Webhooks

    if not (door := Webhooks()).probe():
        raise click.ClickException(
            f"No door for webhooks answers at {door.url}. Start it with `lakehouse up webhooks "
            "--no-generate`"
        )


def _require_logger() -> None:
    from lakehouse_assets.services.weather import Weather

    if not (weather := Weather()).probe():
        raise click.ClickException(
            f"No logging server for weather answers at {weather.url}. Start it with `lakehouse up"
            " weather --no-generate`"
        )


def _require_postgres() -> None:
    from lakehouse_assets import settings
    from lakehouse_assets.services.postgres import Postgres

    if (postgres := Postgres()).probe():
        return
    if named := postgres.external():
        raise click.ClickException(f"No PostgreSQL answers at LAKEHOUSE_POSTGRES={named}.")
    raise click.ClickException(
        f"No PostgreSQL answers on port {settings.port('postgres')}. Start it with `lakehouse up"
        " postgres`, or name yours in LAKEHOUSE_POSTGRES."
    )


NEEDED = {  # who takes what a source sends
    "payments": common.require_kafka, "webhooks": _require_door, "storefront": _require_postgres,
    "weather": _require_logger, "lineage": common.require_kafka,
}  # fmt: skip
COMMANDS = (generate, topic)
