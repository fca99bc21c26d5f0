"""`topics peek`: records of a topic, decoded: the newest, from a place on, by key or text, or as
they come.
"""

from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from confluent_kafka import Message

    from lakehouse_assets.commands.topic_reader import Found, Matches
    from lakehouse_assets.topics.kafka import Kafka, Topic

MOST = 10_000  # records that are shown at once
USUAL_BYTES, LEAST_BYTES = 4_000, 20  # characters of a value


def _instant(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """ISO 8601; UTC where no zone is said."""
    try:
        said = datetime.fromisoformat(value.strip().replace("Z", "+00:00")) if value else None
    except ValueError:
        raise click.BadParameter(
            f"{value} is no instant: say 2026-05-01T08:00, in UTC, or with a zone"
        ) from None
    return said and said.replace(tzinfo=said.tzinfo or timezone.utc)


@click.command()
@click.argument("topic", metavar="TOPIC")
@click.option("--partition", type=click.IntRange(0), help="Only of this one.")
@click.option("--offset", type=click.IntRange(0), help="From there on; with --partition.")
@click.option("--last", type=click.IntRange(1, MOST), metavar="N", help="Only among the newest N.")
@click.option("--since", callback=_instant, metavar="ISO", help="From this instant on, UTC.")
@click.option("--key", help="With this key; of Avro its values, with commas between.")
@click.option("--where", metavar="TEXT", help="With this text somewhere in the value.")
@click.option("-n", "count", type=click.IntRange(0, MOST), help="At most so many. [default: 10]")
@click.option("--follow", is_flag=True, help="Go on showing what comes, until Ctrl-C.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Look, or follow, no"
              " longer.  [default: 30; following: without end]")  # fmt: skip
@click.option("--bytes", "most", type=click.IntRange(LEAST_BYTES), default=USUAL_BYTES,
              show_default=True, help="Characters of a value that are shown.")  # fmt: skip
@click.option("--pretty", is_flag=True, help="Values on several lines.")
@click.option("--reveal", is_flag=True, help="What the raw table's contract marks as private, too.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def peek(topic: str, **options: Any) -> None:
    """Records of a TOPIC, by time: the newest; with --offset, --since, --key or --where the first
    ones that are meant.

    Only committed records are read, and nobody's progress changes. JSON and Avro are decoded, each
    record of Avro by its own schema; what cannot be is shown as its bytes, with the reason. What is
    private is masked, and so is what the contract does not know.
    """
    _Peek(topic, **options).show()


class _Peek:
    """One call of the command."""

    def __init__(self, topic: str, **options: Any) -> None:
        from lakehouse_assets.commands.topic_facts import Topics, known, readers_of_topics
        from lakehouse_assets.commands.topic_records import Reader

        self.said, self.shown = options, 0
        if options["offset"] is not None and options["partition"] is None:
            raise click.UsageError("An offset is one of a partition: say --partition, too.")
        starts = [name for name in ("offset", "last", "since") if options[name] is not None]
        if len(starts) > 1:
            raise click.UsageError(f"Say one of --{' and --'.join(starts)}.")
        common.require_kafka()
        self.kafka: Kafka = Topics()
        self.topic: Topic = self.kafka.topic(known(topic, self.kafka.names()))
        tables = readers_of_topics().get(topic)
        self.table = tables[0] if tables else None
        self.reader = Reader(self.table, options["reveal"])

    def show(self) -> None:
        from lakehouse_assets.commands.topic_reader import following

        # Of a start that is named everything is meant, as it is of nothing but what is to come.
        goes_on = self.said["follow"] and (self.starts_somewhere or self.filters)
        places = self.starts() if goes_on and self.starts_somewhere else self.ends()
        try:
            if not goes_on:
                self.tell(self.found())
            if self.said["follow"]:
                for message in following(self.topic, places, self.matches, self.said["seconds"]):
                    self.print(message)
        except KeyboardInterrupt:
            pass  # that is how one leaves
        if self.shown and self.reader.masked and self.table:
            self.note(f"Masked, as {self.table.name} says: {', '.join(self.reader.masked)}; "
                      "--reveal shows it.")  # fmt: skip

    @property
    def partitions(self) -> list[int]:
        one, there = self.said["partition"], sorted(self.topic.latest)
        if one is not None and one not in there:
            raise click.ClickException(
                f"{self.topic.name} has no partition {one}: it has {there[0]} to {there[-1]}."
            )
        return there if one is None else [one]

    @property
    def starts_somewhere(self) -> bool:
        return self.said["offset"] is not None or self.said["since"] is not None

    @property
    def filters(self) -> bool:
        return self.said["key"] is not None or self.said["where"] is not None

    def starts(self) -> dict[int, int]:
        """Where to begin; never before what is there."""
        first, offset, since = self.topic.earliest, self.said["offset"], self.said["since"]
        if offset is not None:
            (one,) = self.partitions
            return {one: max(offset, first[one])}
        at = self.kafka.first_at(self.topic, since) if since is not None else first
        return {p: max(at[p], first[p]) for p in self.partitions}

    def ends(self) -> dict[int, int]:
        return {p: self.topic.latest[p] for p in self.partitions}

    def found(self) -> "Found":
        from lakehouse_assets.commands.topic_reader import forward, newest

        seconds, last = self.said["seconds"] or 30, self.said["last"]
        count = self.said["count"]
        count = (last or 10) if count is None else count
        if self.starts_somewhere or (self.filters and not last):
            return forward(self.topic, self.starts(), self.matches, count, seconds)
        found = newest(self.topic, self.partitions, last or count, seconds)
        fit = [message for message in found.records if self.matches(message)]
        found.records = fit[-count:] if count else []
        return found

    @property
    def matches(self) -> "Matches":
        from lakehouse_assets.commands.topic_records import spelled

        tests: list[Callable[[Message], bool]] = []
        if (key := self.said["key"]) is not None:
            tests.append(lambda message: key in _forms(self.reader.key(message.key())))
        if (text := self.said["where"]) is not None:

            def has_text(message: "Message") -> bool:
                data = message.value()
                if data is None:
                    return False
                raw = data.decode(errors="replace").lower()
                return text.lower() in raw or text.lower() in spelled(
                    self.reader.read(data).value
                ).lower()  # fmt: skip

            tests.append(has_text)
        return lambda message: all(test(message) for test in tests)

    def tell(self, found: "Found") -> None:
        for message in found.records:
            self.print(message)
        if not found.records:
            ends = ", ".join(f"partition {p}: {end}" for p, end in self.ends().items())
            self.note(f"Nothing found; the topic ends at {ends}.")
        elif found.more:
            self.note(f"{len(found.records)} records, more with -n.")
        if not found.is_whole:
            self.note(f"The time was over after {found.looked_at:,} records: give it more --seconds"
                      ", or a nearer --since or --offset.")  # fmt: skip

    def print(self, message: "Message") -> None:
        from lakehouse_assets.commands.topic_records import spelled

        self.shown += 1
        told, most = self.reader.told(message), self.said["most"]
        text = spelled(told["value"], self.said["pretty"] and not self.said["as_json"])
        if is_cut := len(text) > most:
            text = f"{text[:most]}…"
        if self.said["as_json"]:
            click.echo(spelled(told | {"is_cut": is_cut} | ({"value": text} if is_cut else {})))
            return
        place = f"{told['partition']}:{told['offset']}"
        named = "" if told["schema"] is None else f"  schema {told['schema']}"
        click.echo(f"{place}  {told['at'][:23].replace('T', ' ')} UTC  key {_plain(told['key'])}"
                   f"{named}  {told['bytes']:,} bytes")  # fmt: skip
        for name, value in told["headers"]:
            click.echo(f"    header {_plain(name)}: {_plain(value)}")
        if told["problem"]:
            click.echo(f"    {_plain(told['problem'])}")
        shown = "tombstone: no value" if told["is_tombstone"] else text
        click.echo("\n".join(f"    {line}" for line in shown.splitlines()))

    def note(self, text: str) -> None:
        common.console(stderr=True).print(text, soft_wrap=True, markup=False)


def _forms(key: Any) -> tuple[str, ...]:
    """What one may call a key: the whole of it, or an object's values."""
    from lakehouse_assets.commands.topic_records import spelled

    if isinstance(key, dict):
        return spelled(key), ",".join(str(value) for value in key.values())
    return () if key is None else (str(key),)


def _plain(value: Any) -> str:
    """Text without quotes, if a line can hold it."""
    from lakehouse_assets.commands.topic_records import spelled

    return value if isinstance(value, str) and value.isprintable() else spelled(value)
