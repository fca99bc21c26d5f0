"""`python -m lakehouse_assets.sources.storefront`: traffic in the shop, until Ctrl-C or --count.

Its arguments are those of the other generators, less dirt, which a database with constraints does
not take, and the instant of the start, since what is there already has happened by now.
"""

import argparse
import signal
import threading

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.storefront.database import is_empty, migrate_shop, writer
from lakehouse_assets.sources.storefront.live import MAX_RATE, Flow
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.traffic import utc_now

RATE = 5.0
SMALL = Sizes(customers=500, products=120, orders=2_000)


def main(argv: list[str] | None = None) -> None:
    said = _arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _run(said)
    except (NotTakenError, ServiceError) as failure:
        raise SystemExit(str(failure)) from None
    except KeyboardInterrupt:
        raise SystemExit("stopped; what was done is in the database") from None


def ensure_shop(seed: int) -> int:
    """The newest schema, and a small shop if there is none; how many orders were made."""
    migrate_shop()
    with writer() as connection:
        if not is_empty(connection):
            return 0
        return seed_shop(connection, SMALL, seed, utc_now())["orders"]


def _run(said: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if made := ensure_shop(said.seed):
        console.print(f"a small shop was made, with {made:,} orders")
    flow = Flow(said.seed, said.rate, said.count)
    columns = (*Progress.get_default_columns()[:2], TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("transactions", total=said.count)
        flow.run(threading.Event(), lambda done: progress.update(task, completed=done))
    told = ", ".join(f"{kind} {count}" for kind, count in sorted(flow.kinds.items()))
    console.print(f"{flow.done} transactions: {told}", soft_wrap=True)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Let things happen in the web shop.")
    parser.add_argument("--count", type=int, help="transactions (default: without end)")
    parser.add_argument("--rate", type=float, default=RATE,
                        help="transactions per second; 0: as fast as possible "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=7, help="other seed, other things")
    said = parser.parse_args(argv)
    if not 0 <= said.rate <= MAX_RATE or (said.count is not None and said.count < 0):
        parser.error(f"--rate goes from 0 to {MAX_RATE:g}, and --count cannot be negative")
    if not said.rate and said.count is None:
        parser.error("--rate 0 needs a --count, else it would fill the disk")
    return said


if __name__ == "__main__":
    main()
