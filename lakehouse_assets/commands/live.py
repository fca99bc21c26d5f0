"""How services and tables look on a screen: `status` once, `up` again and again."""

import sqlite3
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakehouse_assets.commands.common import services
from lakehouse_assets.commands.glance import Glance, glances
from lakehouse_assets.services.service import Service, Status

if TYPE_CHECKING:
    from rich.console import Console, Group, JustifyMethod
    from rich.table import Table

REFRESH_S = 2.0
PLAIN_EVERY_S = 15.0  # between reports where nobody looks at a screen
MANY_FAILING = 3
SENTENCES = ("checks", "held / note")  # columns that may take several lines
COLORS = {"running": "green", "stopped": "dim", "unhealthy": "red", "foreign": "yellow"}


def statuses() -> list[Status]:
    found = [(service, service.status()) for group in services() for service in group]
    return [s for it, s in found if s.state != "stopped" or not it.is_optional]


def kafka_answers() -> bool:
    """Asked first, since Kafka's own client waits long for a broker that is not there."""
    from lakehouse_assets.services.kafka import Kafka

    return Kafka().answers()


def service_table(found: list[Status]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("service", "state", "pid", "ports", "MB", "up"):
        table.add_column(name, justify="right" if name in ("pid", "MB", "up") else "left")
    for s in found:
        ports = " ".join(str(p) for p in s.ports.values())
        pid, size, age = (str(s.pid), str(s.rss_mb), _age(s.uptime_s)) if s.pid else ("", "", "")
        table.add_row(s.name, f"[{COLORS[s.state]}]{s.state}[/]", pid, ports, size, age)
    return table


def lake_table(found: dict[str, Glance]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("table", "rows", "behind", "changed", "checks", "held / note"):
        side: JustifyMethod = "right" if name in ("rows", "behind", "changed") else "left"
        table.add_column(name, justify=side, no_wrap=name not in SENTENCES)
    for g in found.values():
        note = f"[red]{escape(g.holding())}[/]" if g.held else g.note
        changed = f"{_age(g.freshness_s)} ago"
        table.add_row(g.name, f"{g.rows:,}", _behind(g), changed, _checks(g), note)
    if not found:
        table.add_row("[dim]none yet: the first run makes them[/]")
    return table


def watch(console: "Console", seconds: float | None, headline: Callable[[], str]) -> None:
    """Show the tables until the time is over or Ctrl-C."""
    end = time.monotonic() + seconds if seconds is not None else None
    if not console.is_terminal:
        return _plainly(console, end)
    from rich.live import Live

    with Live(_screen(headline()), console=console, auto_refresh=False) as live:
        while not _over(end):
            time.sleep(_pause(REFRESH_S, end))
            live.update(_screen(headline()), refresh=True)
    return None


def _screen(headline: str) -> "Group":
    from rich.console import Group
    from rich.text import Text

    found, trouble = _tables()
    told = trouble or headline
    note = Text(f"{datetime.now(timezone.utc):%H:%M:%S} UTC   {told}", style="dim")
    return Group(lake_table(found), note)


def _tables() -> tuple[dict[str, Glance], str]:
    """And why there are none to show: the watching goes on whatever holds the catalog."""
    try:
        return glances(kafka_answers()), ""
    except sqlite3.OperationalError as error:
        return {}, f"the catalog does not answer: {error}"


def _plainly(console: "Console", end: float | None) -> None:
    """One line a table, now and then: for logs and pipes."""
    while not _over(end):
        time.sleep(_pause(PLAIN_EVERY_S, end))
        found, trouble = _tables()
        if trouble:
            console.print(trouble, soft_wrap=True)
        for g in found.values():
            lag = "lag" if g.lag is not None else "behind"
            passed, warned, failed = g.checks.values()
            console.print(
                f"{datetime.now(timezone.utc):%H:%M:%S} {g.name}: {g.rows} rows, "
                f"{lag} {_behind(g)}, {_age(g.freshness_s)} ago, "
                f"checks {passed} passed {warned} warned {failed} failed"
                f"{', ' + g.holding() if g.held else ''}{', ' + g.note if g.note else ''}",
                soft_wrap=True,
            )


def _over(end: float | None) -> bool:
    return end is not None and time.monotonic() >= end


def _pause(wanted: float, end: float | None) -> float:
    return wanted if end is None else max(0.0, min(wanted, end - time.monotonic()))


def headline(all_services: list[Service]) -> Callable[[], str]:
    """What is not well, if anything."""

    def say() -> str:
        found = [s.status() for s in all_services]
        ill = [s for s in found if s.state in ("stopped", "unhealthy")]
        told = [f"{s.name} is {s.state}: lakehouse logs {s.name}" for s in ill]
        return "; ".join(told) or "Ctrl-C stops what this command started"

    return say


def _behind(g: Glance) -> str:
    if g.lag is not None:
        return f"{g.lag:,} records" if g.lag else "0"
    if g.behind is not None:
        return f"{g.behind:,} batches" if g.behind else "0"
    return "?"


def _checks(g: Glance) -> str:
    passed, warned, failed = g.checks.values()
    parts = [f"[green]{passed} ok[/]"]
    if warned or failed:
        names = g.failing()
        shown = ", ".join(names[:MANY_FAILING]) + (", …" if len(names) > MANY_FAILING else "")
        color, word = ("red", "failed") if failed else ("yellow", "warn")
        parts.append(f"[{color}]{failed or warned} {word}: {shown}[/]")
    return " ".join(parts)


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
