"""The command line of a generator that runs alone: what to send, from when on, how fast.

The clock and the progress bar live here; the events know neither.
"""

import argparse
import signal
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, TypeVar

from lakehouse_assets.sources.dirt import read_rates, told
from lakehouse_assets.sources.event import Event, NotTakenError, begin_of_shift
from lakehouse_assets.sources.produce import ensure_topic, produce

BEGINNING = timedelta(minutes=5)  # until when every feed has something to tell of

Made = TypeVar("Made")


@dataclass(frozen=True)
class Asked:
    """Which events to make."""

    topics: tuple[str, ...]
    seed: int
    count: int | None
    start: datetime
    interval: timedelta
    rates: dict[str, float]
    sent_from: datetime | None  # leave out what was made before


@dataclass(frozen=True)
class Source(Generic[Made]):
    """What a source can send, by short names; `interval` is that of what `paced` says."""

    topics: Mapping[str, str]
    interval: timedelta
    every: Mapping[str, int]  # of so many intervals, at most, one is a record of the topic's
    usual: Mapping[str, float]  # kinds of dirt and their rates
    kinds: Mapping[str, Collection[str]]  # those of each topic
    make: Callable[[Asked], Iterable[Made]]
    # To where it belongs: paced from an instant that is now, or at once; tells how far it is.
    send: Callable[[Asked, Iterable[Made], datetime | None, Callable[[int], None]], int]
    paced: str


def to_kafka(
    asked: Asked,
    events: Iterable[Event],
    paced_from: datetime | None,
    on_progress: Callable[[int], None],
) -> int:
    for topic in asked.topics:
        ensure_topic(topic)
    return produce(events, paced_from, on_progress)


def command(source: Source[Any], argv: list[str] | None = None) -> None:
    """In the foreground until Ctrl-C."""
    said = _arguments(source, argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # flush, as after Ctrl-C
    try:
        _run(source, said)
    except (NotTakenError, ValueError) as failure:
        raise SystemExit(str(failure)) from None


def _run(source: Source[Any], said: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    asked = _asked(source, said)
    console, names = Console(stderr=True), ", ".join(asked.topics)
    again = f"--seed {said.seed} --rate {said.rate:g} --start {asked.start.isoformat()}"
    again += f" --count {said.count}" if said.count is not None else ""
    again += "".join(f" --only {name}" for name in said.only or ())
    again += "".join(f" --dirt {kind}={said.rates[kind]!r}" for kind in said.changed)
    console.print(f"{names}: these events again: {again}", soft_wrap=True)
    columns = (*Progress.get_default_columns()[:2], TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("sending", total=said.count)
        try:
            source.send(
                asked,
                source.make(asked),
                (asked.sent_from or asked.start) if said.rate else None,
                lambda sent: progress.update(task, completed=sent),
            )
        except KeyboardInterrupt:
            console.print("stopped; what was sent is in Kafka")


def _asked(source: Source[Any], said: argparse.Namespace) -> Asked:
    interval = timedelta(seconds=1 / said.rate) if said.rate else source.interval
    now, sent_from = datetime.now(timezone.utc), None
    if said.start:
        start = said.start
    elif not said.rate:
        densest = min(source.every[name] for name in said.only or source.topics)
        start = now - interval * densest * said.count - BEGINNING
    elif said.count is None and interval == source.interval:
        # Feeds of one source that are begun apart go on with what the same charges were before.
        start, sent_from = begin_of_shift(now), now
    else:
        start = now
    topics = tuple(source.topics[name] for name in said.only or source.topics)
    return Asked(topics, said.seed, said.count, start, interval, said.rates, sent_from)


def _arguments(source: Source[Any], argv: list[str] | None) -> argparse.Namespace:
    names = list(source.topics)
    parser = argparse.ArgumentParser(description=f"Send events: {', '.join(names)}.")
    rate = timedelta(seconds=1) / source.interval
    parser.add_argument("--only", action="append", choices=names,
                        help="send these alone; once for each (default: all)")  # fmt: skip
    parser.add_argument("--count", type=int, help="records to send (default: without end)")
    parser.add_argument("--rate", type=float, default=rate,
                        help=f"{source.paced} per second; 0: as fast as possible "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=7, help="other seed, other events")
    parser.add_argument("--start", type=_instant,
                        help="instant of the first event, ISO 8601 (default: now; with --rate 0 "
                        "so long ago that the last event is not after now)")  # fmt: skip
    parser.add_argument("--dirt", action="append", default=[], metavar="KIND=RATE",
                        help="share of the records with this kind of dirt, 0 to 1; once for each "
                        f"kind to change (defaults: {told(source.usual)})")  # fmt: skip
    said = parser.parse_args(argv)
    try:
        said.rates = read_rates(said.dirt, source.usual, source.kinds)
    except ValueError as error:
        parser.error(str(error))
    said.changed = [kind for kind in source.usual if said.rates[kind] != source.usual[kind]]
    if said.rate < 0 or (said.count is not None and said.count < 0):
        parser.error("--rate and --count cannot be negative")
    if not said.rate and said.count is None:
        parser.error("--rate 0 needs a --count, else it would fill the disk")
    return said


def _instant(said: str) -> datetime:
    instant = datetime.fromisoformat(said.replace("Z", "+00:00"))
    return instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)
