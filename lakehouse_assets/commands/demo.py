"""`lakehouse demo`: everything once, from nothing to marts that equal the generator's truth."""

import json
import sys
import time
from dataclasses import fields, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import click

from lakehouse_assets.commands import common, glance, live, running

if TYPE_CHECKING:
    from rich.console import Console

    from lakehouse_assets.commands.compare import Compared
    from lakehouse_assets.services.service import Service
    from lakehouse_assets.sources.payments import Dirt

EVENTS, SEED = 20_000, 7
MIN_EVENTS = 100  # fewer leave no room for one of every kind of dirt
HUGE = 5_000_000  # bytes of the one oversized record
PATIENCE_S = 600  # for the sensors' runs; on an idle machine they need a tenth of it
POLL_S = 0.5
GOING = """{ runsOrError(
    filter: {statuses: [QUEUED, NOT_STARTED, STARTING, STARTED, CANCELING]}, limit: 1
) { ... on Runs { results { id } } } }"""


@click.command()
@click.option("--events", type=click.IntRange(min=MIN_EVENTS), default=EVENTS, show_default=True)
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--keep", is_flag=True, help="Leave running what it started.")
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def demo(events: int, seed: int, keep: bool, as_json: bool) -> None:
    """Start the stack, send a burst of dirty charges, let the sensors' runs build every table, and
    compare each with what the generator says it must hold. Exit code 0 only if all are equal.

    At the end it stops what it started (--keep: not); the data stays for `lakehouse up`.
    """
    begin = time.monotonic()
    console = common.console(stderr=as_json)
    started: list[Service] = []
    done = False
    with running.interruptible():
        try:
            found = _run(console, started, events, seed)
            tables = glance.glances()
            done = True
        finally:
            if not (keep and done):
                running.stop(started, console)
    seconds = round(time.monotonic() - begin, 1)
    equal = all(c.equal for c in found.values())
    _summary(console, found, tables, seconds, equal, running_on=keep or not started)
    if as_json:
        common.last_line({
            "seconds": seconds,
            "events": events,
            "tables": {name: g.rows for name, g in tables.items()},
            "checks": glance.summed(tables),
            "quarantined": tables["metadata.quarantine"].rows,
            "equal": {name: c.equal for name, c in found.items()},
        })  # fmt: skip
    sys.exit(0 if equal else 1)


def _run(
    console: "Console", started: "list[Service]", events: int, seed: int
) -> "dict[str, Compared]":
    from concurrent.futures import ThreadPoolExecutor

    groups = common.services()
    if busy := [s.name for s in groups[1] if s.status().state == "running"]:
        raise click.ClickException(
            f"{busy[0]} is sending events, so the end would never stand still. "
            f"Stop it first: lakehouse down {busy[0]}"
        )
    kafka = [s for s in groups[0] if s.name == "kafka"]
    others = [s for s in groups[0] if s.name != "kafka"]
    with ThreadPoolExecutor(1) as pool:  # the burst need not wait for Spark
        rest = pool.submit(running.start, others, started, console)
        running.start(kafka, started, console)
        _send(console, events, seed)
        rest.result()
    _wait(console)
    from lakehouse_assets.commands import compare

    with console.status("comparing with the truth") as status:
        return compare.payments(status.update)


def _send(console: "Console", events: int, seed: int) -> None:
    from lakehouse_assets.sources.payments import INTERVAL, TOPIC, charges
    from lakehouse_assets.sources.produce import ensure_topic, produce

    ensure_topic(TOPIC)
    start = datetime.now(timezone.utc) - events * INTERVAL  # so that the last event is now
    begin = time.monotonic()
    sent = produce(charges(seed, events, start, _every_kind(events)))
    console.print(f"{sent:,} events sent to {TOPIC} in {time.monotonic() - begin:.1f} s")


def _every_kind(events: int) -> "Dirt":
    """However short the burst: of every kind of dirt at least one, and one record of 5 MB."""
    from lakehouse_assets.sources.payments import Dirt

    usual = Dirt()
    rates = {f.name: getattr(usual, f.name) for f in fields(usual) if f.name in usual.rates()}
    at_least = {kind: max(rate, 1 / events) for kind, rate in rates.items()}
    return replace(usual, **at_least | {"oversized": 1 / events}, oversized_bytes=HUGE)


def _wait(console: "Console") -> None:
    """Until every table has all of Kafka and of its parents, and no run is under way."""
    from rich.live import Live

    deadline = time.monotonic() + PATIENCE_S
    begin = time.monotonic()
    screen = Live(console=console, auto_refresh=False, transient=True)
    with screen:
        while waiting := _waiting_for():
            if time.monotonic() > deadline:
                raise click.ClickException(
                    f"after {PATIENCE_S} s it still waits for {waiting}. See the runs in the "
                    "Dagster UI (`lakehouse up`) or `lakehouse logs dagster-daemon`; "
                    "`lakehouse status` shows what is behind."
                )
            if console.is_terminal:
                screen.update(live.lake_table(glance.glances()), refresh=True)
            time.sleep(POLL_S)
    console.print(f"the sensors' runs brought every table up in {time.monotonic() - begin:.1f} s")


def _waiting_for() -> str:
    """In words; empty when there is nothing left to wait for."""
    found, known = glance.glances(), common.tables()
    missing = [name for name in known if name not in found or not found[name].progress]
    if missing:
        return f"{missing[0]} to be made"
    if held := [g.name for g in found.values() if g.held]:
        raise click.ClickException(f"a batch of {held[0]} is held; `lakehouse status` says more")
    if lost := [g for g in found.values() if "accept-gap" in g.note]:
        raise click.ClickException(f"{lost[0].name}: {lost[0].note} {lost[0].name}")
    unsure = [g for g in found.values() if g.lag is None and g.behind is None]
    if lagging := unsure + [g for g in found.values() if g.lag or g.behind]:
        return f"{lagging[0].name} to catch up {lagging[0].note}".strip()
    return "the last run to end" if _runs_going() else ""


def _runs_going() -> bool:
    """Asked of the webserver: importing Dagster here would take two seconds."""
    from lakehouse_assets.services.dagster import Webserver

    body = json.dumps({"query": GOING}).encode()
    request = Request(f"{Webserver().url}/graphql", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        said: dict[str, Any] = json.load(answer)
    return bool(said["data"]["runsOrError"]["results"])


def _summary(
    console: "Console",
    found: "dict[str, Compared]",
    tables: dict[str, glance.Glance],
    seconds: float,
    equal: bool,
    running_on: bool,
) -> None:
    console.print()
    console.print(live.lake_table(tables))
    for name, compared in found.items():
        mark = "[green]equals the truth[/]" if compared.equal else "[red]DIFFERS from the truth[/]"
        console.print(f"  {name}: {compared.rows:,} rows, {mark}")
        for row in compared.missing:
            console.print(f"    missing {row}", markup=False, soft_wrap=True)
        for row in compared.unexpected:
            console.print(f"    unexpected {row}", markup=False, soft_wrap=True)
    checks = glance.summed(tables)
    console.print(
        f"\n[bold]{'Every table equals' if equal else 'NOT every table equals'} the generator's "
        f"truth[/] after {seconds} s. Checks: {checks['passed']} passed, {checks['warned']} warned "
        f"(the feed is dirty on purpose), {checks['failed']} failed. "
        f"{tables['metadata.quarantine'].rows:,} records are set aside, each with its reason."
    )
    where = "the Dagster UI runs" if running_on else "lakehouse up              the same, live"
    from lakehouse_assets.services.dagster import Webserver

    console.print(f"""
Next:
  {f'{Webserver().url}   the Dagster UI: lineage, runs, checks' if running_on else where}
  lakehouse query "select * from marts.payments_daily order by created_on, payments desc"
  lakehouse quarantine list
  lakehouse status""", soft_wrap=True)  # fmt: skip


COMMANDS = (demo,)
