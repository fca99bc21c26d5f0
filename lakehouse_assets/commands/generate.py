"""`lakehouse generate`: events of a source, in the foreground or in the background."""

import os
import sys

import click

from lakehouse_assets.services.generator import SOURCES, Generator


@click.command()
@click.argument("source", type=click.Choice(SOURCES))
@click.option("--count", type=click.IntRange(0), help="Records to send; default: without end.")
@click.option("--rate", type=click.FloatRange(0), help="Records a second; 0: as fast as can be.")
@click.option("--seed", type=int, help="Other seed, other events.")
@click.option("--background", is_flag=True, help="Go on after this returns; `lakehouse logs`.")
def generate(
    source: str, count: int | None, rate: float | None, seed: int | None, background: bool
) -> None:
    """Send a SOURCE's events to Kafka, until Ctrl-C or --count of them."""
    _require_kafka()
    given = {"--count": count, "--rate": rate, "--seed": seed}
    args = [f"{name}={value}" for name, value in given.items() if value is not None]
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
