"""`query`: SQL over the tables, typed or saved in a file."""

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets import settings
from lakehouse_assets.commands import common
from lakehouse_assets.lake.spark import fetched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAVED = Path("deploy/queries")  # in the repository
POSTGRES_S = 5  # to be let in
LOOKS = ("show", "describe", "desc", "explain")  # statements that only look and are no queries
WRITES = (
    "insert", "update", "delete", "merge", "create", "drop", "alter", "truncate", "call", "replace",
)  # fmt: skip


@click.command()
@click.argument("sql", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path), help="A file with the SQL.")
@click.option("--postgres", is_flag=True, help="Ask PostgreSQL's `weather` instead, as pages do.")
@click.option("--limit", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def query(
    sql: str | None, file: Path | None, postgres: bool, limit: int, as_json: bool
) -> None:
    """SQL over the tables: lakehouse query "select * from marts.payments_daily".

    Saved queries: lakehouse query --file deploy/queries/recent_charges.sql. Only reads: tables
    change by publishing. Starts Spark if it does not run; `lakehouse down` stops it.
    """
    if (sql is None) == (file is None):
        raise click.UsageError("Give either the SQL or a --file with it, and not both.")
    text = read(file) if file else sql or ""
    names, rows = ask_postgres(text, limit) if postgres else ask_spark(text, limit)
    cut, rows = len(rows) > limit, rows[:limit]
    if as_json:
        common.last_line({"columns": names, "rows": rows, "cut": cut})
        return
    _show(names, [list(row.values()) for row in rows])
    said = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    common.console(stderr=True).print(f"{said}, more with --limit" if cut else said)


def ask_postgres(text: str, limit: int) -> tuple[list[str], list[dict[str, Any]]]:
    """As pages do, who may only read; what stands in brackets is one query."""
    import psycopg

    from lakehouse_assets.serving.database import pages_dsn

    asked = f"select * from (\n{text.rstrip().rstrip(';')}\n) as asked limit {limit + 1}"
    try:
        with psycopg.connect(pages_dsn(), connect_timeout=POSTGRES_S) as pages:
            found = pages.execute(asked.encode())
            names = [column.name for column in found.description or ()]
            return names, [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    except psycopg.OperationalError as error:
        raise click.ClickException(
            f"{error}. `lakehouse up weather --no-generate` starts the database and makes the table"
        ) from None
    except psycopg.Error as error:
        raise click.ClickException(str(error)) from None


def ask_spark(text: str, limit: int) -> tuple[list[str], list[dict[str, Any]]]:
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    from lakehouse_assets.lake.spark import open_session

    PySparkLogger.getLogger(
        "SQLQueryContextLogger"
    ).disabled = True  # a stack for each typing error
    common.tell_of_spark()
    with common.console(stderr=True).status("asking Spark"):
        try:
            session = open_session()
            try:
                found = ask(session, text, limit)
            finally:
                session.stop()
        except PySparkException as error:
            raise click.ClickException(_short(error)) from None
    return found.column_names, found.to_pylist()


def read(file: Path) -> str:
    if not file.is_file():
        there = ", ".join(sorted(p.name for p in (settings.ROOT / SAVED).glob("*.sql")))
        raise click.ClickException(f"There is no file {file}. {SAVED} holds: {there}.")
    return file.read_text(encoding="utf-8")


def ask(session: "SparkSession", text: str, limit: int) -> Any:
    """As Arrow, so that instants stay UTC; one row more than the limit tells that it cut.

    A query stands in brackets, where nothing can write, on its own lines, which errors name.
    """
    text = text.rstrip().rstrip(";")
    bare = re.sub(r"\A(\s|--[^\n]*(\n|\Z)|/\*.*?\*/)*", "", text, flags=re.DOTALL)
    verb = bare.split(None, 1)[0].lower() if bare else ""
    if verb in WRITES:
        raise click.ClickException(
            f"`lakehouse query` only reads, and this begins with {verb.upper()}. Tables change by "
            "publishing: see `lakehouse rebuild`, `drop`, `quarantine replay`."
        )
    frame = session.sql(bare if verb in LOOKS else f"select * from (\n{text}\n)")
    names = frame.columns
    numbered = frame.toDF(*[f"c{i}" for i in range(len(names))])  # a name may occur twice
    return fetched(numbered.limit(limit + 1)).rename_columns(_distinct(names))


def _distinct(names: list[str]) -> list[str]:
    return [n if n not in names[:i] else f"{n}_{i + 1}" for i, n in enumerate(names)]


def _short(error: Exception) -> str:
    """What Spark says of the SQL, without plan and stack; of an unknown table the nearest names."""
    text = re.split(r"JVM stacktrace:|== SQL", str(error))[0].strip()
    text = re.sub(r"line (\d+)", lambda found: f"line {int(found[1]) - 1}", text)  # in brackets
    text = re.split(r";?\n'?[A-Z+][A-Za-z]*\b.*?[\[(#*]", text, maxsplit=1)[0].strip()
    if "[TABLE_OR_VIEW_NOT_FOUND]" in text and (named := re.search(r"view (\S+) cannot", text)):
        name = named[1].replace("`", "").removeprefix(f"{settings.CATALOG}.")
        return common.unknown("table", name, common.tables())
    return text


def _show(names: list[str], rows: list[list[Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(names):
        numeric = any(isinstance(r[i], (int, float)) or _is_decimal(r[i]) for r in rows)
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(_spelled(value)) for value in row])
    console = common.console()
    if not console.is_terminal:  # a pipe has no width to fold to
        console.width = max(console.width, 1_000_000 // max(len(rows), 1), 10_000)
    console.print(table)


def _is_decimal(value: object) -> bool:
    return type(value).__name__ == "Decimal"


def _spelled(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix("+00:00")
    return value.hex() if isinstance(value, bytes) else str(value)


COMMANDS = (query,)
