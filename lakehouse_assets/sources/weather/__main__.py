"""`python -m lakehouse_assets.sources.weather`: readings to the logging server, until Ctrl-C or
--count of them.

Its arguments are those of the other generators, less dirt, which the server does not take, and the
instant of the start, since a reading is of the moment at which the server hears of it.
"""

import argparse
import signal
from datetime import datetime, timedelta, timezone

from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.weather.client import log
from lakehouse_assets.sources.weather.readings import A_ROUND, CITIES, EVERY, made_up, readings

RATE = A_ROUND / EVERY.total_seconds()
MAX_RATE = 1_000.0


def main(argv: list[str] | None = None) -> None:
    said = _arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _run(said)
    except (NotTakenError, ValueError) as failure:
        raise SystemExit(str(failure)) from None
    except KeyboardInterrupt:
        raise SystemExit("stopped; what was sent is in Kafka") from None


def _run(said: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    cities = made_up(said.seed, said.cities) if said.cities else CITIES
    start = datetime.now(timezone.utc)
    every = timedelta(seconds=A_ROUND / said.rate) if said.rate else timedelta(0)
    made = readings(said.seed, said.count, start, every, cities)
    console = Console(stderr=True)
    again = f"--seed {said.seed}" + (f" --cities {said.cities}" if said.cities else "")
    console.print(f"weather: these readings again: {again}", soft_wrap=True)
    columns = (*Progress.get_default_columns()[:2], TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("readings", total=said.count)
        paced_from = start if said.rate else None
        log(made, paced_from, lambda done: progress.update(task, completed=done))


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tell the logging server of readings.")
    parser.add_argument("--count", type=int, help="readings (default: without end)")
    parser.add_argument("--rate", type=float, default=RATE,
                        help="readings per second, ten at once; 0: as fast as possible "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=7, help="other seed, other readings")
    parser.add_argument("--cities", type=int,
                        help="so many cities that are made up (default: the ten)")  # fmt: skip
    said = parser.parse_args(argv)
    if not 0 <= said.rate <= MAX_RATE or (said.count is not None and said.count < 0):
        parser.error(f"--rate goes from 0 to {MAX_RATE:g}, and --count cannot be negative")
    if not said.rate and said.count is None:
        parser.error("--rate 0 needs a --count, else it would fill the disk")
    return said


if __name__ == "__main__":
    main()
