"""`lakehouse generate`, `topic`: events of a source, at once or in the background; what takes them.
"""

import importlib
import os
import re
import sys

import click

from lakehouse_assets.commands import common
from lakehouse_assets.services.generator import SOURCES, Generator, feeds
from lakehouse_assets.sources.dirt import read_rates

TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")  # what Kafka takes for a name


def _usual_dirt(source: str) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The kinds' rates, and those of each topic."""
    dirt = importlib.import_module(f"lakehouse_assets.sources.{source}.dirt")
    return dirt.Dirt().rates(), dirt.KINDS


class _WithKinds(click.Command):
    """Its help ends with the kinds of dirt, which are only looked up for it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for source in SOURCES:
            with formatter.section(f"Kinds of dirt in {source}, and their default rates"):
                rates, _ = _usual_dirt(source)
                formatter.write_dl([(kind, f"{rate:g}") for kind, rate in rates.items()])


@click.command(cls=_WithKinds)
@click.argument("source", type=click.Choice(SOURCES))
@click.option("--only", multiple=True, metavar="FEED",
              help="Send these alone, e.g. --only refunds; repeatable.")  # fmt: skip
@click.option("--count", type=click.IntRange(0), help="Records to send; default: without end.")
@click.option(
    "--rate",
    type=click.FloatRange(0),
    help="Charges, or webhooks of all vendors, a second; 0: as fast as can be.",
)
@click.option("--seed", type=int, help="Other seed, other events.")
@click.option(
    "--dirt",
    multiple=True,
    metavar="KIND=RATE",
    help="Share of the records with this kind of dirt, 0 to 1; repeatable.",
)
@click.option("--background", is_flag=True, help="Go on after this returns; `lakehouse logs`.")
def generate(
    source: str,
    only: tuple[str, ...],
    count: int | None,
    rate: float | None,
    seed: int | None,
    dirt: tuple[str, ...],
    background: bool,
) -> None:
    """Send a SOURCE's events, payments to Kafka and webhooks to their door, until Ctrl-C or --count
    of them.
    """
    try:
        read_rates(dirt, *_usual_dirt(source))
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    _require_door() if source == "webhooks" else _require_kafka()
    given = {"--count": count, "--rate": rate, "--seed": seed}
    args = [f"{name}={value}" for name, value in given.items() if value is not None]
    args += [f"--dirt={one}" for one in dirt]
    for feed in only:
        if feed not in feeds(source):
            raise click.ClickException(common.unknown(f"feed of {source}", feed, feeds(source)))
    if not background:
        args += [f"--only={feed}" for feed in only]
        os.execv(sys.executable, Generator(source, args).command())
    for feed in only or ("",):
        _begin(Generator(source, args, feed))


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

    _require_kafka()
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


def _require_kafka() -> None:
    """Ours or the one named; another lake's or project's broker must not get dirty charges."""
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
            f"If events shall go there, say LAKEHOUSE_KAFKA={place}; else start this lake's own on "
            "other ports, e.g. LAKEHOUSE_PORT_OFFSET=100 lakehouse up kafka."
        )
    raise click.ClickException(
        "Kafka is not running. Start it with `lakehouse up kafka`, or name yours in LAKEHOUSE_KAFKA"
    )


def _require_door() -> None:
    """Which alone knows whether Kafka is there, and says so."""
    from lakehouse_assets.services.webhooks import Webhooks

    if not (door := Webhooks()).probe():
        raise click.ClickException(
            f"No door for webhooks answers at {door.url}. Start it with `lakehouse up webhooks "
            "--no-generate`"
        )


COMMANDS = (generate, topic)
