"""`lakehouse trace`: from rows of a table back to the Kafka records that they were made of."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from rich.tree import Tree

    from lakehouse_assets.lineage.trace import Commit, Step, Trace


@click.command()
@click.argument("table", metavar="TABLE")
@click.option("--where", default="true", help="SQL over the table's columns; default: any row.")
@click.option("--limit", type=click.IntRange(1, 100), default=1, show_default=True,
              help="Rows to trace.")  # fmt: skip
@click.option("--follow", "followed", type=click.IntRange(1, 100), default=3, show_default=True,
              help="Rows of each parent to follow, where a row is made of many.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def trace(table: str, where: str, limit: int, followed: int, as_json: bool) -> None:
    """Follow rows of TABLE back through its parents: to Kafka's partition and offset, the batch
    that published each row, the Dagster run and the version of the code that made it; or to where
    the trail ends, and why. Starts Spark if it does not run.

    For example: lakehouse trace marts.payments_daily --where "provider = 'STRIPE'"
    """
    from pyspark.errors import AnalysisException

    from lakehouse_assets.lineage.trace import Tracer

    it = common.table_named(table)
    common.tell_of_spark()
    with common.lake("trace") as lake, common.console(stderr=True).status(f"tracing {table}"):
        lake.catalog.head(table)
        try:
            found = Tracer(lake, followed).trace(it, where, limit)
        except AnalysisException as error:
            raise click.ClickException(f"--where {where}: {str(error).splitlines()[0]}") from None
    if as_json:
        common.last_line({"table": table, "where": where, "rows": [_plain(one) for one in found]})
        return
    if not found:
        raise click.ClickException(f"{table} has no row where {where}.")
    console = common.console()
    for one in found:
        console.print(_shown(one), soft_wrap=True)


def _plain(one: "Trace") -> dict[str, Any]:
    return {
        "table": one.table, "key": one.key, "commit": vars(one.commit), "kafka": one.kafka,
        "is_traced": one.is_traced, "ends": one.ends,
        "made_of": [
            {"table": s.parent, "how": s.how, "is_exact": s.is_exact, "rows": s.rows,
             "followed": [_plain(t) for t in s.traces], "ends": s.ends}
            for s in one.steps
        ],
    }  # fmt: skip


def _shown(one: "Trace", above: "Tree | None" = None) -> "Tree":
    from rich.text import Text
    from rich.tree import Tree

    key = ", ".join(f"{name}={value}" for name, value in one.key.items())
    told = Text.assemble((one.table, "bold"), f" {key} · {_batch(one.commit)}")
    if one.kafka:
        place = "{topic} partition {partition} offset {offset}, arrived {arrived_at:%F %T} UTC"
        told.append(f" · Kafka: {place.format(**one.kafka)}", style="green")
    if one.ends:
        told.append(f" · ends here: {one.ends}", style="yellow")
    tree = above.add(told) if above is not None else Tree(told)
    for step in one.steps:
        _add(step, tree)
    return tree


def _add(step: "Step", tree: "Tree") -> None:
    from rich.text import Text

    if step.ends:
        said = f"{step.parent}: ends here: {step.ends}" + (f" ({step.how})" if step.how else "")
        tree.add(Text(said, style="yellow"))
        return
    more = f", {len(step.traces)} of {step.rows:,} shown" if step.rows > len(step.traces) else ""
    under = tree.add(Text(f"{step.how}{more}", style="dim"))
    for one in step.traces:
        _shown(one, under)


def _batch(commit: "Commit") -> str:
    attempt = f", attempt {commit.attempt}" if commit.attempt else ""
    if not commit.is_known:
        return f"batch {commit.number}{attempt}, whose snapshot has expired"
    at, run = commit.published_at[:19].replace("T", " "), commit.run or "none"
    with suppress(ValueError):
        from uuid import UUID

        run = f"Dagster's {UUID(run)}"
    return f"batch {commit.number}{attempt} of {at} UTC, run {run}, code {commit.code_version}"


COMMANDS = (trace,)
