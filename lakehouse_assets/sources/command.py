"""The command line of a generator that runs alone: what to send, from when on, how fast.

The clock and the progress bar live here; the events know neither.
"""

import argparse
import signal
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone

from lakehouse_assets.sources.dirt import read_rates, told
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.produce import ProduceError, ensure_topic, produce

Rates = Mapping[str, float]
MakeEvents = Callable[[int, int | None, datetime, timedelta, Rates], Iterable[Event]]


def command(
    topic: str, interval: timedelta, usual: Rates, make: MakeEvents, argv: list[str] | None = None
) -> None:
    """In the foreground until Ctrl-C. `usual`: the kinds of dirt and their rates."""
    said = _arguments(topic, interval, usual, argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # flush, as after Ctrl-C
    try:
        _run(topic, interval, make, said)
    except ProduceError as failure:
        raise SystemExit(str(failure)) from None


def _run(topic: str, interval: timedelta, make: MakeEvents, said: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    pace = timedelta(seconds=1 / said.rate) if said.rate else interval
    start = said.start or _now() - (timedelta(0) if said.rate else pace * said.count)
    ensure_topic(topic)
    console = Console(stderr=True)
    again = f"--seed {said.seed} --rate {said.rate:g} --start {start.isoformat()}"
    again += "".join(f" --dirt {kind}={said.rates[kind]!r}" for kind in said.changed)
    console.print(f"{topic}: these events again: {again}", soft_wrap=True)
    columns = (*Progress.get_default_columns()[:2], TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task(f"sending to {topic}", total=said.count)
        try:
            produce(
                make(said.seed, said.count, start, pace, said.rates),
                said.rate,
                lambda sent: progress.update(task, completed=sent),
            )
        except KeyboardInterrupt:
            console.print("stopped; what was sent is in the topic")


def _arguments(
    topic: str, interval: timedelta, usual: Rates, argv: list[str] | None
) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Send events to the topic {topic}.")
    rate = timedelta(seconds=1) / interval
    parser.add_argument("--count", type=int, help="records to send (default: without end)")
    parser.add_argument("--rate", type=float, default=rate,
                        help="records per second, 0: as fast as possible (default: %(default)s)",
                        )  # fmt: skip
    parser.add_argument("--seed", type=int, default=7, help="other seed, other events")
    parser.add_argument("--start", type=_instant,
                        help="instant of the first event, ISO 8601 (default: now; with --rate 0 "
                        "so long ago that the last event is now)")  # fmt: skip
    parser.add_argument("--dirt", action="append", default=[], metavar="KIND=RATE",
                        help="share of the records with this kind of dirt, 0 to 1; once for each "
                        f"kind to change (defaults: {told(usual)})")  # fmt: skip
    said = parser.parse_args(argv)
    try:
        said.rates = read_rates(said.dirt, usual)
    except ValueError as error:
        parser.error(str(error))
    said.changed = [kind for kind in usual if said.rates[kind] != usual[kind]]
    if said.rate < 0 or (said.count is not None and said.count < 0):
        parser.error("--rate and --count cannot be negative")
    if not said.rate and said.count is None:
        parser.error("--rate 0 needs a --count, else it would fill the disk")
    return said


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _instant(said: str) -> datetime:
    instant = datetime.fromisoformat(said.replace("Z", "+00:00"))
    return instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)
