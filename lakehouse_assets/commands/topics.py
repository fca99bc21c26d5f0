"""`topics list|describe|lag|peek`: what is in Kafka, decoded, without a program of its own for it.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.commands import common
from lakehouse_assets.commands.topic_peek import peek

if TYPE_CHECKING:
    from lakehouse_assets.commands.topic_facts import About, Schema
    from lakehouse_assets.commands.topic_lag import Behind

DAY_MS, HOUR_MS, MINUTE_MS = 86_400_000, 3_600_000, 60_000
KAFKAS_OWN = "__"
MB = 2**20
TOPIC = click.argument("topic", metavar="TOPIC")
JSON = click.option("--json", "as_json", is_flag=True, help="One object a line.")


@click.group()
def topics() -> None:
    """Kafka's topics: what there is, how far the tables have read, and the records, decoded.

    `lakehouse topic NAME` makes one.
    """


@topics.command("list")
@click.option("--all", "everything", is_flag=True, help="Kafka's own ones, too.")
@JSON
def list_(everything: bool, as_json: bool) -> None:
    """Topics with their records, how long these are kept, and which table reads them.

    Records are counted by offsets: transactions' markers, and what was compacted, count too.
    """
    from lakehouse_assets.commands.topic_facts import Topics

    common.require_kafka()
    kafka = Topics()
    found = kafka.about(n for n in kafka.names() if everything or not n.startswith(KAFKAS_OWN))
    if as_json:
        _lines(_summary(one) for one in found)
    elif not found:
        click.echo("There are no topics: `lakehouse topic NAME` makes one.")
    else:
        _table(
            ("topic", "partitions", "records", "MB", "kept", "time is", "format", "read by"),
            [(one.name, f"{len(one.partitions)}", f"{one.records:,}", _mb(one.bytes), _kept(one),
              _clock(one), one.format or "?", ", ".join(one.tables) or "nobody") for one in found],
            numbers=(1, 2, 3),
        )  # fmt: skip


def _summary(one: "About") -> dict[str, Any]:
    return {
        "topic": one.name, "partitions": len(one.partitions), "records": one.records,
        "bytes": one.bytes, "cleanup_policy": one.settings["cleanup.policy"],
        "retention_ms": int(one.settings["retention.ms"]), "clock": _clock(one),
        "format": one.format or None, "tables": one.tables,
    }  # fmt: skip


def _clock(one: "About") -> str:
    """Whose time a record has."""
    arrival = one.settings["message.timestamp.type"] == "LogAppendTime"
    return "Kafka's" if arrival else "the producer's"


def _kept(one: "About") -> str:
    policy, ms = one.settings["cleanup.policy"], int(one.settings["retention.ms"])
    span = "without end" if ms < 0 else _span(ms)
    return {"delete": span, "compact": "newest of a key"}.get(policy, f"newest of a key, {span}")


def _span(ms: float) -> str:
    for size, unit in ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min")):
        if ms >= 2 * size:
            return f"{ms / size:.0f} {unit}"
    return f"{ms / 1000:.0f} s"


def _mb(size: int | None) -> str:
    return "" if size is None else f"{size / MB:.1f}"


@topics.command()
@TOPIC
@JSON
def describe(topic: str, as_json: bool) -> None:
    """Partitions of a TOPIC, what was set for it, and of Avro the newest schema."""
    from lakehouse_assets.commands.topic_facts import Topics, known, schema_of
    from lakehouse_assets.services.host import ServiceError

    common.require_kafka()
    kafka = Topics()
    (one,) = kafka.about([known(topic, kafka.names())])
    schema, trouble = None, ""
    if one.format != "json":
        try:
            schema = schema_of(topic)
        except ServiceError as error:
            trouble = str(error)
    if as_json:
        _lines([_summary(one) | {
            "id": one.id, "settings": one.set_here,
            "partitions": {p: vars(part) for p, part in one.partitions.items()},
            "schema": vars(schema) if schema else None, "trouble": trouble,
        }])  # fmt: skip
        return
    click.echo(f"{one.name}: {one.records:,} records, {one.format or 'of unknown format'}; "
               f"read by {', '.join(one.tables) or 'nobody'}\n")  # fmt: skip
    _table(
        ("partition", "begins at", "ends at", "leader", "replicas", "in sync"),
        [(f"{p}", f"{part.begin:,}", f"{part.end:,}", f"{part.leader}", _numbers(part.replicas),
          _numbers(part.in_sync)) for p, part in sorted(one.partitions.items())],
        numbers=(0, 1, 2, 3),
    )  # fmt: skip
    click.echo("\nset, for it or for the broker:")
    for name, value in sorted(one.set_here.items()):
        click.echo(f"  {name} = {value}")
    if schema:
        _tell_schema(schema)
    elif one.format == "avro":
        click.echo(f"\nno schema: {trouble or 'nobody has registered one'}")


def _numbers(some: Iterable[int]) -> str:
    return " ".join(map(str, some))


def _tell_schema(schema: "Schema") -> None:
    click.echo(f"\nschema {schema.id}, version {schema.version} of {schema.subject}; a new one "
               f"must be {schema.compatibility}:")  # fmt: skip
    for name, kind in schema.fields.items():
        click.echo(f"  {name}: {kind}")


@topics.command()
@click.argument("topic", metavar="[TOPIC]", required=False)
@JSON
def lag(topic: str | None, as_json: bool) -> None:
    """Records that Kafka has and raw tables have not, of TOPIC or of all, and since when the oldest
    waits.

    A table that `accept-gap` waits for is told with all that is there.
    """
    from lakehouse_assets.commands.topic_facts import Topics, known
    from lakehouse_assets.commands.topic_lag import lags

    common.require_kafka()
    there = Topics().names()
    found = [one for one in lags(there) if topic in (None, one.topic)]
    if topic and not found:
        raise click.ClickException(f"{known(topic, there)} is read by no table.")
    total = sum(one.total for one in found)
    if as_json:
        _lines([*map(_lag, found), {"topic": None, "lag": total}])
        return
    _table(
        ("topic", "partition", "taken to", "ends at", "lag", "oldest waits", "table"),
        [row for one in found for row in _rows(one, bool(topic))], numbers=(1, 2, 3, 4, 5),
    )  # fmt: skip
    click.echo(f"\n{total:,} records are not taken yet.")


def _lag(one: "Behind") -> dict[str, Any]:
    since = one.waiting_since
    return {
        "topic": one.topic, "table": one.table, "lag": one.total, "note": one.note,
        "oldest_s": round(time.time() - min(since.values()), 1) if since else None,
        "partitions": {
            p: {"taken": one.taken.get(p, 0), "end": end, "lag": one.lag[p],
                "oldest_s": round(time.time() - since[p], 1) if p in since else None}
            for p, end in sorted(one.ends.items())
        },
    }  # fmt: skip


def _rows(one: "Behind", whole: bool) -> list[tuple[str, ...]]:
    """Its sum, and below it the partitions that lag, or all."""
    since, lag = one.waiting_since, one.lag
    oldest = _age(min(since.values())) if since else ""
    note = f"{one.table}{f': {one.note}' if one.note else ''}"
    parts = [
        ("", f"{p}", f"{one.taken.get(p, 0):,}", f"{end:,}", f"{lag[p]:,}",
         _age(since[p]) if p in since else "", "")
        for p, end in sorted(one.ends.items()) if whole or lag[p]
    ]  # fmt: skip
    return [(one.topic, "", "", "", f"{one.total:,}", oldest, note), *parts]


def _age(since: float) -> str:
    return _span(max(0.0, time.time() - since) * 1000)


def _lines(objects: Iterable[dict[str, Any]]) -> None:
    from lakehouse_assets.commands.topic_records import spelled

    for one in objects:
        click.echo(spelled(one))


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]], numbers: tuple[int, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(titles):
        shown.add_column(title, justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    common.console().print(shown)


topics.add_command(peek)
COMMANDS = (topics,)
