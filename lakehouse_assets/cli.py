"""`lakehouse`: run the stack, make events, look at tables, mend what is held or set aside."""

import os
from typing import Any

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import data, demo, generate, measure, quarantine, stack

# By name, so that nothing heavy is imported to recognise them. Their message says what to do next.
KNOWN = {
    "lakehouse_assets.services.host.ServiceError",
    "lakehouse_assets.sources.produce.ProduceError",
    "lakehouse_assets.lake.kafka.KafkaDown",
    "lakehouse_assets.lake.kafka.NoTopic",
    "lakehouse_assets.lake.catalog.NoTable",
    "lakehouse_assets.lake.catalog.MainMoved",
    "lakehouse_assets.lake.publish.Held",
    "lakehouse_assets.lake.position.RecordsLost",
    "lakehouse_assets.lake.ingest.NotInOrder",
    "lakehouse_assets.lake.schema.SchemaRefused",
}


class Commands(click.Group):
    """One clear message for what is known to go wrong; a traceback for what is not."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            from lakehouse_assets.commands import trouble

            kind = type(error)
            known = f"{kind.__module__}.{kind.__qualname__}" in KNOWN
            if not (message := str(error) if known else trouble.told(error)):
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


for family in (demo, stack, generate, data, quarantine, measure):
    for command in family.COMMANDS:
        main.add_command(command)


if __name__ == "__main__":
    main()
