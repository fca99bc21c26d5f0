"""`lakehouse demo`: everything once, from nothing to marts that equal the generator's truth."""

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import click

from lakehouse_assets.commands import awaited, common, dagster_api, glance, live, running

if TYPE_CHECKING:
    from rich.console import Console

    from lakehouse_assets.commands import readback
    from lakehouse_assets.commands.compare import Compared
    from lakehouse_assets.services.service import Service

EVENTS, SEED = 20_000, 7
MIN_EVENTS = 100  # fewer leave no room for one of every kind of dirt
A_REQUEST = 10  # events of payments to one webhook
PATIENCE_S = 900  # for the sensors' runs; on an idle machine they need a tenth of it
POLL_S = 0.5
CHECKS_S = 300  # for the run that executes every check; an idle machine needs 15


@click.command()
@click.option("--events", type=click.IntRange(min=MIN_EVENTS), default=EVENTS, show_default=True)
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--keep", is_flag=True, help="Leave running what it started.")
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def demo(events: int, seed: int, keep: bool, as_json: bool) -> None:
    """Start the stack, send a burst of dirty payments, a tenth as many lineage events and, through
    their door, as many webhooks, log some weather, make a small shop in PostgreSQL in which
    something happens, let the sensors' runs build every table, and compare each with what the
    generators say it must hold, and the shop's and the weather's with PostgreSQL; then execute
    every check. Exit code 0 only if Kafka holds what was sent, all tables are equal and no check
    failed.

    At the end it stops what it started (--keep: not); the data stays for `lakehouse up`.
    """
    begin = time.monotonic()
    console = common.console(stderr=as_json)
    started: list[Service] = []
    done = False
    with running.interruptible():
        try:
            found, verdicts = _run(console, started, events, seed)
            tables = glance.glances()
            done = True
        finally:
            if not (keep and done):
                running.stop(started, console)
    seconds = round(time.monotonic() - begin, 1)
    checks = {v: Counter(verdicts.values())[v] for v in ("passed", "warned", "failed")}
    good = all(c.is_equal for c in found) and not checks["failed"]
    _compared(console, found, tables)
    for name in [name for name, verdict in verdicts.items() if verdict == "failed"]:
        console.print(f"  [red]check failed[/] {name}")
    _summary(console, found, checks, tables, seconds, running_on=keep or not started)
    if as_json:
        common.last_line({
            "seconds": seconds,
            "events": events,
            "tables": {name: g.rows for name, g in tables.items()},
            "checks": checks,
            "quarantined": tables["metadata.quarantine"].rows,
            "equal": {c.table: all(o.is_equal for o in found if o.table == c.table) for c in found},
        })  # fmt: skip
    sys.exit(0 if good else 1)


def _run(
    console: "Console", started: "list[Service]", events: int, seed: int
) -> "tuple[list[Compared], dict[str, str]]":
    """Send, wait, judge: what came of comparing, and every check's verdict."""
    from concurrent.futures import ThreadPoolExecutor

    from lakehouse_assets.commands import burst, readback
    from lakehouse_assets.sources import lineage, payments
    from lakehouse_assets.sources.storefront.captured import wait_until_captured
    from lakehouse_assets.sources.weather import TOPIC
    from lakehouse_assets.sources.webhooks.vendors import TOPICS

    *groups, generators = common.services()
    if busy := [s.name for s in generators if s.status().state == "running"]:
        raise click.ClickException(
            f"{busy[0]} is sending events, so the end would never stand still. "
            f"Stop it first: lakehouse down {busy[0]}"
        )
    kafka = [s for s in groups[0] if s.name == "kafka"]
    others = [[s for s in group if s.name != "kafka"] for group in groups]
    with ThreadPoolExecutor(1) as pool:  # the burst need not wait for Spark
        rest = pool.submit(running.start_groups, others, started, console)
        running.start(kafka, started, console)
        topics = [*payments.TOPICS, *TOPICS, TOPIC, lineage.TOPIC]
        before, sent = readback.ends(topics), readback.Sent()
        burst.send_payments(console, events, seed, sent)
        burst.send_lineage(console, events // A_REQUEST, seed, sent)
        rest.result()
    count = events // A_REQUEST
    begin = burst.webhooks_begin(count)
    burst.make_shop(console, seed, count, begin)
    posted = burst.send_webhooks(console, count, seed, begin)
    posted += burst.send_weather(console, seed)
    with console.status("waiting until the shop's changes are captured"):
        wait_until_captured()
    _wait(console)
    return _judge(console, before, sent, posted)


def _judge(
    console: "Console", before: "dict[readback.Place, int]", sent: "readback.Sent",
    posted: "Counter[str]",
) -> "tuple[list[Compared], dict[str, str]]":  # fmt: skip
    from lakehouse_assets.commands import burst, compare, readback
    from lakehouse_assets.serving.database import pages_dsn
    from lakehouse_assets.sources import lineage, payments
    from lakehouse_assets.sources.lineage import truth as of_lineage
    from lakehouse_assets.sources.payments import truth as of_payments
    from lakehouse_assets.sources.storefront import truth as of_shop
    from lakehouse_assets.sources.weather import TOPIC
    from lakehouse_assets.sources.weather import truth as of_weather
    from lakehouse_assets.sources.webhooks import truth as of_webhooks
    from lakehouse_assets.sources.webhooks.vendors import TOPICS

    begin = time.monotonic()
    run = dagster_api.launch("data_quality")
    with console.status("reading the topics back") as status:
        records = readback.read_back(payments.TOPICS)
        delivered, logged = readback.read_back(TOPICS), readback.read_back([TOPIC])
        traced = readback.read_back([lineage.TOPIC])
        found = sent.beside(readback.since([*records, *traced], before))
        found += burst.as_posted(posted, readback.since([*delivered, *logged], before))
        found += compare.against_truth(of_payments, records, status.update)
        found += compare.against_truth(of_webhooks, delivered, status.update)
        found += compare.against_truth(of_lineage, traced, status.update)
        captured = readback.read_back(of_shop.TOPICS)
        found += compare.against_truth(of_shop, captured, status.update)
        found += compare.against_shop()
        found += compare.against_truth(of_weather, logged, status.update)
        found.append(compare.against_minutes(pages_dsn()))
        status.update("executing every check")
        ended = dagster_api.finished(run, CHECKS_S)
    verdicts = dagster_api.verdicts(run)
    console.print(f"{len(verdicts)} checks executed and every table compared in "
                  f"{time.monotonic() - begin:.1f} s ({ended.lower()})")  # fmt: skip
    return found, verdicts


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
        expected = awaited.to_be_made(known.keys() - missing)
        missing = [name for name in missing if name in expected]
    if missing:
        return f"{missing[0]} to be made"
    if unheard := awaited.unheard(found):
        return f"{unheard} to hear of a new parent"
    if held := [g.name for g in found.values() if g.held]:
        raise click.ClickException(f"a batch of {held[0]} is held; `lakehouse status` says more")
    if lost := [g for g in found.values() if "accept-gap" in g.note]:
        raise click.ClickException(f"{lost[0].name}: {lost[0].note} {lost[0].name}")
    unsure = [g for g in found.values() if g.lag is None and g.behind is None]
    if lagging := unsure + [g for g in found.values() if g.lag or g.behind]:
        return f"{lagging[0].name} to catch up {lagging[0].note}".strip()
    return "the last run to end" if dagster_api.runs_going() else ""


def _compared(
    console: "Console", found: "list[Compared]", tables: dict[str, glance.Glance]
) -> None:
    console.print()
    console.print(live.lake_table(tables))
    for one in found:
        mark = f"[green]{one.good}[/]" if one.is_equal else "[red]DIFFERS from the truth[/]"
        console.print(f"  {one.table}: {one.rows:,} rows, {mark}")
        for example in one.examples:
            console.print(f"    {example}", markup=False, soft_wrap=True)


def _summary(
    console: "Console",
    found: "list[Compared]",
    checks: dict[str, int],
    tables: dict[str, glance.Glance],
    seconds: float,
    running_on: bool,
) -> None:
    equal = all(one.is_equal for one in found)
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
