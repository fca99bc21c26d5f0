"""`storefront-config`: a starting entry of storefront_tables.yaml for a captured table, and the raw
contract that it is made from.
"""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from lakehouse_assets.commands.storefront_columns import Column

PACKAGE = settings.ROOT / "lakehouse_assets"
CAPTURED = "storefront.public."
WIDTH = 88  # of a line of `row`, in its quotes
RAW = '''\
"""raw.storefront_{table}: one row per record of Kafka's `{topic}`.

{prose}
"""

from lakehouse_assets.lake.contract import Layout
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.change import ChangeTable


class Storefront{camel}(ChangeTable):
    row = (
{row}
    )

    layout = Layout(partitioned_by="ingest_hour")


storefront_{table} = raw_table(
    Storefront{camel}, topic="{topic}", group="storefront"
)
'''
PROSE = (
    "Every change of {thing}, as Debezium captured it from the shop's Postgres: the row before and "
    "after it, and where it stands in the database's log. Nothing is cast or cleaned."
)


@click.command("storefront-config")
@click.argument("table", metavar="TABLE")
@click.option("--write", is_flag=True, help="Put both where they belong, unless one is there.")
def storefront_config(table: str, write: bool) -> None:
    """What a captured TABLE of the shop needs: an entry of staging/storefront_tables.yaml, as its
    newest schema in the registry tells it, and its raw contract.

    Phrases, and what is private, are guesses from names: read them.
    """
    from lakehouse_assets.commands.storefront_columns import columns

    table = table.removeprefix(CAPTURED)
    value, key = schema(table, "value"), schema(table, "key")
    if not key:
        raise click.ClickException(
            f"{table} has no primary key: its changes cannot be told apart. Give it one in the shop"
            "; it is captured with it from its next change on."
        )
    found = columns(table, value, key)
    if write:
        _write(table, found)
        return
    click.echo(entry(table, found), nl=False)
    click.echo(f"\nIt is made from raw/storefront_{table}.py:\n\n{raw_file(table, found)}\n"
               "--write puts both where they belong.", err=True)  # fmt: skip


def schema(table: str, part: str) -> Any:
    from lakehouse_assets.commands.topic_facts import latest, subjects

    newest = latest(f"{CAPTURED}{table}-{part}")
    if newest:
        return newest[0].schema
    if part == "key":
        return None
    there = [s.removesuffix("-value") for s in sorted(subjects()) if s.endswith("-value")]
    captured = [s.removeprefix(CAPTURED) for s in there if s.startswith(CAPTURED)]
    known = common.unknown("captured table", table, captured) if captured else (
        f"There is no captured table {table}, nor any other: `lakehouse up storefront` captures "
        "the shop."
    )  # fmt: skip
    raise click.ClickException(
        f"{known} To capture one, let a migration of the shop give it a primary key and REPLICA "
        "IDENTITY FULL, grant select on it to debezium and add it to the publication storefront. "
        "Within a minute of its next change its schema is here; its older rows come with "
        "`lakehouse connectors reset postgres-source-storefront`."
    )


def entry(table: str, found: "list[Column]") -> str:
    """In the file's own dialect."""
    from lakehouse_assets.commands.storefront_columns import born, singular

    thing = singular(table).replace("_", " ")
    day = born(found)
    lines = [
        f"{table}:", f"  what: a{'n' * (thing[0] in 'aeiou')} {thing}",
        f"  event_date: {day}" if day else
        "  # no event_date: no timestamp that is always there tells when it began",
        "  columns:", *map(_line, found),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _line(one: "Column") -> str:
    if not one.row:
        return f"    # {one.origin}: {one.remark}"
    said: dict[str, Any] = {"from": one.origin} if one.origin != one.name else {}
    said |= {"type": one.type}
    said |= {flag: True for flag in ("key", "nullable", "pii") if getattr(one, flag)}
    told = _flow(said | {"doc": one.doc})
    return f"    {_flow(one.name)}: {told}{f'  # {one.remark}' if one.remark else ''}"


def _flow(value: Any) -> str:
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, width=10**9, sort_keys=False,
                          allow_unicode=True)  # fmt: skip
    return str(text).removesuffix("...\n").strip()


def row(found: "list[Column]") -> str:
    """What the raw contract says of the captured row."""
    return ", ".join(f"{one.origin} {one.row}" for one in found if one.row)


def raw_file(table: str, found: "list[Column]") -> str:
    from lakehouse_assets.commands.storefront_columns import singular

    thing = singular(table).replace("_", " ")
    prose = PROSE.format(thing=f"a{'n' * (thing[0] in 'aeiou')} {thing}")
    lines = textwrap.wrap(row(found), WIDTH, break_long_words=False, break_on_hyphens=False)
    quoted = [f'        "{line}{" " if line != lines[-1] else ""}"' for line in lines]
    return RAW.format(
        table=table, topic=f"{CAPTURED}{table}", prose=textwrap.fill(prose, 95),
        camel="".join(part.capitalize() for part in table.split("_")), row="\n".join(quoted),
    )  # fmt: skip


def _write(table: str, found: "list[Column]") -> None:
    """Raw first: an entry without it would let no command start."""
    from lakehouse_assets.staging.entries import entries

    file, raw = _places(table)
    if table in entries(file):
        raise click.ClickException(
            f"{file.name} has an entry {table} already. Take it out to begin anew, or see what "
            f"would be written: `lakehouse storefront-config {table}`."
        )
    if raw.exists():
        click.echo(f"{raw} is there already: compare its row with\n  {row(found)}")
    else:
        raw.write_text(raw_file(table, found), encoding="utf-8")
        click.echo(f"{raw} made.")
    with file.open("a", encoding="utf-8") as end:
        end.write(f"\n{entry(table, found)}")
    guessed = ", ".join(one.name for one in found if one.pii and one.row) or "nothing"
    click.echo(
        f"{file} has an entry {table}: read its phrases, and what is private (guessed: {guessed})."
        f" Its tests: lakehouse_assets_tests/raw/test_storefront_{table}.py, as its neighbours' are"
        "; then press Reload definitions in the UI."
    )


def _places(table: str) -> tuple[Path, Path]:
    return (PACKAGE / "staging" / "storefront_tables.yaml",
            PACKAGE / "raw" / f"storefront_{table}.py")  # fmt: skip


COMMANDS = (storefront_config,)
