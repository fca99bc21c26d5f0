"""`rebuild`, `release`, `accept-gap`, `drop`: mending what is stuck."""

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from lakehouse_assets.lake.table import LakeTable

TABLE = click.argument("table", metavar="TABLE")
YES = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@TABLE
@click.option("--partition", help="Only this hour (raw, staging), e.g. 2026-11-18-12:00, UTC.")
def rebuild(table: str, partition: str | None) -> None:
    """Compute a TABLE anew from its parents, in one publish; until then readers see the old."""
    from lakehouse_assets.lake.advance import advance
    from lakehouse_assets.lake.advance import rebuild as rebuild_whole

    it = common.table_named(table)
    hour = _hour(it, partition) if partition is not None else None
    if hour is None and (it.topic or it.source is not None):
        way = "name the hour with --partition" if it.topic else "it follows the others by itself"
        raise click.ClickException(f"{table} has no parents to be rebuilt from: {way}.")
    console = common.console(stderr=True)
    common.tell_of_spark()
    with common.lake("rebuild") as lake, console.status(f"rebuilding {table}"):
        done = rebuild_whole(lake, it) if hour is None else advance(lake, it, hour, anew=True)
    stored = sum(p.stored for p in done.published)
    removed = sum(p.removed for p in done.published)
    rows = done.head.rows if done.head else 0
    click.echo(f"{table}: {stored:,} rows written, {removed:,} replaced, {rows:,} now stand"
               + (f" ({done.note})" if done.note else ""))  # fmt: skip
    if done.published:
        _tell_children(table, "takes the change at its next run")


def _hour(table: "LakeTable", partition: str) -> datetime:
    """The partition's hour; an unknown one is an error that names the nearest."""
    if not table.hourly:
        raise click.ClickException(f"{table.name} is not hourly: leave --partition away.")
    hour, last = settings.first_hour(), datetime.now(timezone.utc)
    known = []
    while hour <= last:
        known.append(hour.strftime(settings.HOUR_FORMAT))
        hour += timedelta(hours=1)
    if partition not in known:
        raise click.ClickException(
            f"{table.name} has no partition {partition}. They go from {known[0]} to {known[-1]}; "
            f"near it: {', '.join(_near(partition, known)) or known[-1]}."
        )
    return settings.parse_hour(partition)


def _near(partition: str, known: list[str]) -> list[str]:
    """By time; by letters where no time was named."""
    try:
        asked = settings.parse_hour(partition)
    except ValueError:
        return common.nearest(partition, known[:-1001:-1])  # of those equally alike the newest
    return sorted(known, key=lambda label: abs(settings.parse_hour(label) - asked))[:3]


@click.command()
@TABLE
def release(table: str) -> None:
    """Drop a TABLE's held batches, so that their input is tried again."""
    from lakehouse_assets.lake.branch import FAILED
    from lakehouse_assets.lake.catalog import Catalog

    it, catalog = common.table_named(table), Catalog()
    held = [r for r in catalog.load(it.name).metadata.refs if r.startswith(FAILED)]
    catalog.drop_branches(it.name, held)
    if held:
        click.echo(f"{table}: released {', '.join(held)}. The next run tries again.")
    else:
        click.echo(f"{table}: no batch is held.")


@click.command("accept-gap")
@TABLE
@YES
def accept_gap(table: str, yes: bool) -> None:
    """Go on with a raw TABLE after records that Kafka no longer has."""
    from lakehouse_assets.commands import repair
    from lakehouse_assets.topics import position
    from lakehouse_assets.topics.kafka import Kafka

    it = common.table_named(table)
    if not it.topic:
        raise click.ClickException(f"{table} does not read Kafka: only raw tables have gaps.")
    with common.lake("accept-gap") as lake:
        head = lake.catalog.head(it.name)
        gap = position.find_gap(head, position.topic_of(Kafka(), head, it.topic))
        if gap is None:
            click.echo(f"{table}: nothing is missing, there is no gap to accept.")
            return
        click.echo(gap.told())
        common.confirm("Give these records up for good?", yes)
        common.tell_of_spark()
        taken = repair.accept_gap(lake, it)
    went_on = taken.following if taken else {}
    click.echo(f"{table}: goes on at {position.spelled(went_on)}; its rows so far are untouched.")


@click.command()
@TABLE
@YES
def drop(table: str, yes: bool) -> None:
    """Delete a TABLE with its rows and history; the next run makes it anew."""
    from lakehouse_assets.lake.catalog import Catalog

    it, catalog = common.table_named(table), Catalog()
    head = catalog.head(it.name)
    again = "Kafka, as far back as it still has records" if it.topic else "its parents"
    common.confirm(
        f"Delete {table}: {head.rows:,} rows, {head.stamp.commit} batches? "
        f"It can be made again from {again}.", yes,
    )  # fmt: skip
    catalog.iceberg.purge_table(it.name)
    click.echo(f"{table}: deleted.")
    _tell_children(table, "is computed anew once that is filled again")


def _tell_children(name: str, what: str) -> None:
    for table in common.tables().values():
        if name in {p.name for p in table.parents.values()}:
            click.echo(f"  {table.name} {what}")


COMMANDS = (rebuild, release, accept_gap, drop)
