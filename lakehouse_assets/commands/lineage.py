"""`lineage files`: which files of a table hold an attempt's rows, for who reads files alone."""

import dataclasses
from typing import Any

import click

from lakehouse_assets.commands import common

LOGGED = "raw.lineage_events"


@click.group()
def lineage() -> None:
    """Where rows and files come from."""


@lineage.command()
@click.option("--checkpoint", type=click.IntRange(1), help="Of this attempt alone.")
@click.option("--table", default=LOGGED, show_default=True, help="Any that has a commit log.")
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def files(checkpoint: int | None, table: str, as_json: bool) -> None:
    """The data files that hold the rows of attempts, of those that were published alone. A file may
    hold rows of several; deletes that apply to it are named too.
    """
    from lakehouse_assets.lake.catalog import Catalog
    from lakehouse_assets.lineage.log import CommitLog
    from lakehouse_assets.lineage.trust import trusted

    it = common.table_named(table)
    if not it.contract.commit_log:
        logged = [t.name for t in common.tables().values() if t.contract.commit_log]
        raise click.ClickException(f"{table} has no commit log. There are: {', '.join(logged)}.")
    log, catalog = CommitLog(table), Catalog()
    catalog.head(table)
    found = trusted(catalog, table, checkpoint)
    if as_json:
        told: dict[str, Any] = {"table": table, "log": log.address, "checkpoint": checkpoint}
        common.last_line(told | {"files": [dataclasses.asdict(one) for one in found]})
        return
    for one in found:
        click.echo(f"{one.checkpoint_id},{one.s3_key},{one.commit_timestamp}")
        for path in one.deletes:
            click.echo(f"  less the rows that {path} names")
    if not found:
        click.echo(_why_none(log, checkpoint), err=True)


def _why_none(log: Any, checkpoint: int | None) -> str:
    if checkpoint is None:
        return f"{log.table}: no published attempt has rows in it."
    numbers = log.numbers()
    if checkpoint > max(numbers, default=0):
        return f"{log.table}: no attempt {checkpoint} was made yet; the newest is {log.last()}."
    if any(one.number == checkpoint for one in log.attempts()):
        return (
            f"{log.table}: no file of attempt {checkpoint} may be trusted: it was not published, "
            "added no rows, or they have been replaced since."
        )
    return f"{log.table}: attempt {checkpoint} did not get as far as its files."


COMMANDS = (lineage,)
