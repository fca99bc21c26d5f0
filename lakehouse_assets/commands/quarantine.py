"""`quarantine list|show|replay`: what was set aside, why, and how it comes back after a fix."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from lakehouse_assets.lake.lake import Lake
    from lakehouse_assets.lake.table import LakeTable

NAME = "metadata.quarantine"
COORDINATES = ("topic_generation", "kafka_partition", "kafka_offset")
COUNTED = ("source_table", "stage", "reason")
TABLE = click.option("--table", help="Only of this raw table.")
JSON = click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")


@click.group()
def quarantine() -> None:
    """Records that were set aside: malformed, of wrong types, or refused by a staging rule."""


@quarantine.command("list")
@TABLE
@JSON
def list_(table: str | None, as_json: bool) -> None:
    """How many records of each table, stage and reason."""
    counts = Counter(tuple(row[c] for c in COUNTED) for row in _rows(table, COUNTED))
    ranked = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    if as_json:
        rows = [dict(zip(COUNTED, key, strict=True)) | {"records": n} for key, n in ranked]
        common.last_line({"quarantined": counts.total(), "reasons": rows})
        return
    if not ranked:
        click.echo("Nothing is set aside.")
        return
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("table", "stage", "reason"):
        shown.add_column(title)
    shown.add_column("records", justify="right")
    for key, n in ranked:
        shown.add_row(*key, f"{n:,}")
    common.console().print(shown)
    click.echo(f'\nThe records: lakehouse quarantine show "{ranked[0][0][2]}"')


@quarantine.command()
@click.argument("reason")
@TABLE
@JSON
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
def show(reason: str, table: str | None, as_json: bool, limit: int) -> None:
    """Some records of one REASON: where they are in Kafka and what raw kept of them, PII masked."""
    found = _rows(table, (*COUNTED, *COORDINATES, "ingest_hour", "arrived_at"))
    chosen = [row for row in found if reason in (row["reason"], *row["reason"].split(", "))]
    if not chosen:
        raise click.ClickException(common.unknown("reason", reason, _reasons(found)))
    chosen.sort(key=lambda row: tuple(row[c] for c in ("source_table", "arrived_at", *COORDINATES)))
    shown = [row | {"record": _record(row)} for row in chosen[:limit]]
    if as_json:
        common.last_line({"reason": reason, "quarantined": len(chosen), "records": shown})
        return
    for row in shown:
        click.echo(
            f"{row['source_table']} partition {row['kafka_partition']} offset {row['kafka_offset']}"
            f" (generation {row['topic_generation']}), {row['arrived_at']:%Y-%m-%d %H:%M:%S} UTC:"
            f" {row['reason']}"
        )
        for name, value in (row["record"] or {"record": "no longer in the raw table"}).items():
            click.echo(f"    {name}: {value}")
    click.echo(f"{len(shown)} of {len(chosen)} records")


@quarantine.command()
@click.argument("table", metavar="TABLE")
def replay(table: str) -> None:
    """Parse a raw TABLE's set-aside records again with today's contract; rows keep their identity.

    What a staging rule refused needs no replay: change the rule, then `lakehouse rebuild` the
    staging table.
    """
    from lakehouse_assets.commands import repair

    it = common.table_named(table)
    if not it.topic:
        raise click.ClickException(f"{table} does not read Kafka: only raw tables can replay.")
    console = common.console(stderr=True)
    common.tell_of_spark()
    with common.lake("replay") as lake:
        with console.status(f"parsing the set-aside records of {table} again"):
            done = repair.replay(lake, it)
        if done is None:
            click.echo(f"{table}: nothing changes, every set-aside record is as bad as before.")
            return
        click.echo(f"{table}: {done.stored:,} records stored anew in place")
        for child in _downstream(it):
            with console.status(f"bringing {child.name} up"):
                _bring_up(lake, child)


def _downstream(table: "LakeTable") -> "list[LakeTable]":
    reached = {table.name}
    for child in common.tables().values():  # parents come before children
        if reached & {p.name for p in child.parents.values()}:
            reached.add(child.name)
    return [t for t in common.tables().values() if t.name in reached - {table.name}]


def _bring_up(lake: "Lake", table: "LakeTable") -> None:
    from lakehouse_assets.lake.advance import advance
    from lakehouse_assets.topics.kafka import hour_of, now

    done = advance(lake, table, hour_of(now()) if table.hourly else None)
    written = sum(p.stored for p in done.published)
    click.echo(f"  {table.name}: {f'{written:,} rows written' if written else 'unchanged'}")


def _rows(table: str | None, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of the quarantine table, which the runs bring up after their other tables."""
    from lakehouse_assets.lake.catalog import Catalog

    if table:
        common.table_named(table)
    scan = Catalog().load(NAME).scan(selected_fields=columns)
    rows: list[dict[str, Any]] = scan.to_arrow().to_pylist()
    return [r for r in rows if table is None or r["source_table"] == table]


def _reasons(rows: list[dict[str, Any]]) -> list[str]:
    return sorted({r["reason"] for r in rows}) or ["none, nothing is set aside"]


def _record(row: dict[str, Any]) -> dict[str, Any] | None:
    """What raw has of the record: its fields, or how many bytes could not be read."""
    from lakehouse_assets.lake.catalog import Catalog
    from lakehouse_assets.lake.quality import MASK

    contract = common.table_named(row["source_table"]).contract
    conditions = [f"ingest_hour = '{row['ingest_hour'].isoformat()}'"]
    conditions += [f"{column} = {row[column]}" for column in COORDINATES]
    where = " and ".join(conditions)
    found = Catalog().load(row["source_table"]).scan(row_filter=where).to_arrow().to_pylist()
    if not found:
        return None
    raw: dict[str, Any] = found[0]
    kept: dict[str, Any] = {}
    for name, declared in contract.columns.items():
        if name in raw and raw[name] is not None and name not in row:
            kept[name] = MASK if declared.pii else raw[name]
    payload = raw.get("_payload")
    return kept | ({"_payload": f"{MASK} ({len(payload):,} bytes)"} if payload is not None else {})


COMMANDS = (quarantine,)
