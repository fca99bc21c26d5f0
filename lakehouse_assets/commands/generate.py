"""`lakehouse generate`: events of a source, in the foreground or in the background."""

import importlib
import os
import sys

import click

from lakehouse_assets.services.generator import SOURCES, Generator
from lakehouse_assets.sources.dirt import read_rates


def _usual_dirt(source: str) -> dict[str, float]:
    """Each source has its kinds in a file of their own, which is cheap to import."""
    kinds = importlib.import_module(f"lakehouse_assets.sources.{source}_dirt")
    rates: dict[str, float] = kinds.Dirt().rates()
    return rates


class _WithKinds(click.Command):
    """Its help ends with the kinds of dirt, which are only looked up for it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for source in SOURCES:
            with formatter.section(f"Kinds of dirt in {source}, and their default rates"):
                formatter.write_dl([(k, f"{rate:g}") for k, rate in _usual_dirt(source).items()])


@click.command(cls=_WithKinds)
@click.argument("source", type=click.Choice(SOURCES))
@click.option("--count", type=click.IntRange(0), help="Records to send; default: without end.")
@click.option("--rate", type=click.FloatRange(0), help="Records a second; 0: as fast as can be.")
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
    count: int | None,
    rate: float | None,
    seed: int | None,
    dirt: tuple[str, ...],
    background: bool,
) -> None:
    """Send a SOURCE's events to Kafka, until Ctrl-C or --count of them."""
    try:
        read_rates(dirt, _usual_dirt(source))
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    _require_kafka()
    given = {"--count": count, "--rate": rate, "--seed": seed}
    args = [f"{name}={value}" for name, value in given.items() if value is not None]
    args += [f"--dirt={one}" for one in dirt]
    generator = Generator(source, args)
    if not background:
        os.execv(sys.executable, generator.command())
    elif generator.start():
        click.echo(f"{generator.name} runs; its log: {generator.log}. Stop it with "
                   f"`lakehouse down {generator.name}`")  # fmt: skip
    else:
        raise click.ClickException(
            f"{generator.name} runs already. `lakehouse down {generator.name}` stops it, "
            "then start it with other figures."
        )


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


COMMANDS = (generate,)
