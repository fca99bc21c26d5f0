"""`connectors list|status|restart|reset|delete`: what Kafka Connect reads from databases."""

import dataclasses
from typing import TYPE_CHECKING

import click

from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from lakehouse_assets.services.connectors import Health

NAME = click.argument("name")
JSON = click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
YES = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group()
def connectors() -> None:
    """Kafka Connect's connectors, which send a database's changes to Kafka."""


@connectors.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Those that run, and those that deploy/connectors/ describes."""
    from lakehouse_assets.services.connectors import templates

    healths, described = _healths(), templates()
    names = sorted({*healths, *described})
    if as_json:
        common.last_line({
            "connectors": [
                {"name": n, "registered": n in healths, "described": n in described} for n in names
            ]
        })  # fmt: skip
        return
    for name in names:
        state = healths[name].state.lower() if name in healths else (
            "not registered: `lakehouse up capture` registers it"
        )  # fmt: skip
        click.echo(f"{name}: {state}")


@connectors.command()
@click.argument("name", required=False)
@JSON
def status(name: str | None, as_json: bool) -> None:
    """State of the connector NAME, or of all, with its tasks and what went wrong."""
    from lakehouse_assets.services.connectors import stuck

    healths = _healths()
    chosen = [_known(name, healths)] if name else list(healths.values())
    shown = [dataclasses.replace(one, trouble=one.trouble or stuck(one.name)) for one in chosen]
    if as_json:
        common.last_line({"connectors": [dataclasses.asdict(health) for health in shown]})
        return
    for health in shown:
        tasks = ", ".join(task.lower() for task in health.tasks) or "none"
        click.echo(f"{health.name}: {health.state.lower()}; tasks: {tasks}")
        if health.trouble:
            click.echo(f"    {health.trouble}")
    if not shown:
        click.echo("There are none: `lakehouse up capture` registers what deploy/connectors/ has.")


@connectors.command()
@NAME
def restart(name: str) -> None:
    """Begin again with the connector NAME and its tasks, from where it is."""
    from lakehouse_assets.services import connectors as connect

    connect.restart(_known(name, _healths()).name)
    click.echo(f"{name} restarts; `lakehouse connectors status {name}` says how it is.")


@connectors.command()
@NAME
@YES
def reset(name: str, yes: bool) -> None:
    """Let the connector NAME take a new snapshot: its place and its replication slot are dropped.

    Every row then comes once more, as `r`; changes made while it is stopped come only as the rows
    that they left.
    """
    from lakehouse_assets.services import connectors as connect

    health = _known(name, _healths())
    common.confirm(f"Drop the place of {name} and read all its tables anew?", yes)
    connect.reset(health.name)
    click.echo(f"{name} takes a new snapshot; `lakehouse connectors status {name}` says how it is.")


@connectors.command()
@NAME
@YES
def delete(name: str, yes: bool) -> None:
    """Take the connector NAME out of Kafka Connect, with its place and its replication slot.

    Topics stay. What deploy/connectors/ describes is registered again when `capture` next starts.
    """
    from lakehouse_assets.services import connectors as connect

    health = _known(name, _healths())
    common.confirm(f"Delete {name}, its place and its replication slot?", yes)
    left = connect.delete(health.name)
    click.echo(f"{name} is deleted." + (f" Its replication slot is not: {left}." if left else ""))


def _healths() -> "dict[str, Health]":
    from lakehouse_assets.services.connect import Connect, connect_url
    from lakehouse_assets.services.connectors import healths

    if (connect := Connect()).probe():
        return healths()
    if named := connect.external():
        raise click.ClickException(f"Kafka Connect does not answer at LAKEHOUSE_CONNECT={named}.")
    raise click.ClickException(
        f"Kafka Connect is not running at {connect_url()}. Start it with `lakehouse up kafka "
        "registry connect capture`, or name yours in LAKEHOUSE_CONNECT."
    )


def _known(name: str, healths: "dict[str, Health]") -> "Health":
    if name not in healths:
        from lakehouse_assets.services.connectors import templates

        if name in templates():
            raise click.ClickException(
                f"{name} is not registered. `lakehouse up capture` registers it."
            )
        raise click.ClickException(common.unknown("connector", name, {*healths, *templates()}))
    return healths[name]


COMMANDS = (connectors,)
