"""`lakehouse`: run the stack, make events, look at tables, mend what is held or set aside."""

import os
from typing import Any

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import (
    checks,
    connectors,
    data,
    demo,
    generate,
    lineage,
    measure,
    quarantine,
    query,
    stack,
    storefront_config,
    topics,
    trace,
)


class Commands(click.Group):
    """One clear message for what is known to go wrong; a traceback for what is not."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            from lakehouse_assets import trouble

            if not (message := trouble.told(error)):
                raise
            raise click.ClickException(message) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which one needs them

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from lakehouse_assets.commands.common import unknown

        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise click.ClickException(unknown("command", args[0], self.commands))
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """A streaming lakehouse on this machine: Kafka, Spark and Dagster, without Docker."""
    os.environ.update(settings.reaching_ourselves(os.environ))


for family in (demo, stack, checks, generate, topics, query, data, quarantine, connectors,
               storefront_config, lineage, trace, measure):
    for command in family.COMMANDS:
        main.add_command(command)


if __name__ == "__main__":
    main()
