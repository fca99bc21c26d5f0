"""`checks`: what is red, since when, what to do; the board of `/quality` in a terminal."""

from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.commands import common

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lakehouse_assets.pages.board import Board

LOOKS = 30  # of a second or two
COLORS = {"failed": "red", "warned": "yellow", "passed": "green", "unknown": "dim"}
WORDS = {"failed": "red", "warned": "yellow", "passed": "green", "unknown": "not yet executed"}
MARKS = {"f": "[red]█[/]", "w": "[yellow]▆[/]", "p": "[green]▂[/]", "-": "[dim]·[/]"}


@click.command()
@click.argument("names", nargs=-1, metavar="[TABLE…]")
@click.option("--json", "as_json", is_flag=True, help="One object, on the last line.")
def checks(names: tuple[str, ...], as_json: bool) -> None:
    """What is red or yellow, since when, why, and what to do; then the tables, sources and what was
    set aside. With TABLEs every check of those. Executes nothing.
    """
    from lakehouse_assets.pages.board import Board

    console = common.console(stderr=as_json)
    with console.status("reading the checks"):
        board = _told(Board())
    known = {table["name"]: table for table in board["tables"]}
    for name in names:
        if name not in known:
            raise click.ClickException(common.unknown("table with checks", name, known))
    if names:
        board["tables"] = [known[name] for name in names]
        board["attention"] = [a for a in board["attention"] if a.split(":")[0] in names]
    if as_json:
        common.last_line(board)
        return
    if names:
        for name in names:
            _print_table(console, known[name])
        return
    _print_board(console, board)


def _told(board: "Board") -> dict[str, Any]:
    """A long history is read by several looks."""
    told = board.told()
    for _ in range(LOOKS):
        if told["days_are_whole"]:
            break
        told = board.told()
    return told


def _print_board(console: "Console", board: dict[str, Any]) -> None:
    if not board["days_are_whole"]:
        console.print(f"[yellow]The history is long: not all {len(board['days'])} days are told[/]")
    told = [f"[{COLORS[state]}]{n:,} {WORDS[state]}[/]" for state, n in board["summary"].items()]
    console.print(", ".join(told))
    every = {f"{t['name']}:{c['check']}": (t, c) for t in board["tables"] for c in t["checks"]}
    for place in board["attention"]:
        _print_bad(console, *every[place])
    console.print()
    console.print(_sources(board["sources"]))
    if board["quarantine"]:
        console.print()
        console.print(_quarantine(board["quarantine"]))
    console.print()
    console.print(_tables(board["tables"]))


def _print_bad(console: "Console", table: dict[str, Any], check: dict[str, Any]) -> None:
    from rich.markup import escape

    color = COLORS[check["state"]]
    console.print(f"\n[{color}]{WORDS[check['state']]}[/] [bold]{table['name']}[/]"
                  f" {check['check']}, since {_moment(check['since'])}")  # fmt: skip
    console.print(f"  {escape(check['why'])}", soft_wrap=True)
    console.print(f"  [bold]do[/] {escape(check['step'].replace('`', ''))}", soft_wrap=True)
    for example in check["examples"][:1]:
        row = ", ".join(f"{k}={v}" for k, v in example.items() if v is not None)
        console.print(f"  [dim]e.g. {escape(row)}[/]", soft_wrap=True)
    console.print(f"  {_days(check)}")


def _print_table(console: "Console", table: dict[str, Any]) -> None:
    from rich.markup import escape

    console.print(f"[bold]{table['name']}[/] {table['owner']} [dim]{table['url']}[/]",
                  soft_wrap=True)  # fmt: skip
    if held := table["held"]:
        why = f"batch {held['batch']} is held since {_moment(held['since'])}: {held['why']}"
        console.print(f"[red]{escape(why)}[/]; {held['release']}", soft_wrap=True)
    shown = _grid("check", "verdict", ">failed", ">of rows", ">allowed", "judged", "30 days")
    for check in table["checks"]:
        state = f"[{COLORS[check['state']]}]{WORDS[check['state']]}[/]"
        figures = [f"{check[name]:,}" if check[name] is not None else ""
                   for name in ("failed", "rows", "allowed")]  # fmt: skip
        shown.add_row(check["check"], state, *figures, _moment(check["at"]), _days(check))
    console.print(shown)
    for check in table["checks"]:
        if check["since"]:
            _print_bad(console, table, check)


def _sources(found: list[dict[str, Any]]) -> "Table":
    shown = _grid("source", "owner", "newest", ">unread", ">set aside", ">red", ">yellow", "note")
    for one in found:
        unread = "?" if one["unread"] is None else f"{one['unread']:,}"
        late = f"late: {', '.join(one['late'])}" if one["late"] else ""
        note = "; ".join([*([late] if late else []), *one["notes"]])
        shown.add_row(one["source"], one["owner"], _moment(one["newest_at"]), unread,
                      f"{one['set_aside']:,}", str(one["failed"]), str(one["warned"]),
                      note)  # fmt: skip
    return shown


def _quarantine(found: list[dict[str, Any]]) -> "Table":
    from rich.markup import escape

    shown = _grid("set aside of", "stage", "reason", ">records", "newest")
    for one in found:
        shown.add_row(one["table"], one["stage"], escape(one["reason"]), f"{one['records']:,}",
                      _moment(one["newest"]))  # fmt: skip
    return shown


def _tables(found: list[dict[str, Any]]) -> "Table":
    shown = _grid("table", ">rows", "changed", ">red", ">yellow", ">green", ">not yet executed")
    for one in found:
        counts = [str(one["states"][s] or "") for s in ("failed", "warned", "passed", "unknown")]
        rows = f"{one['rows']:,}" if one["rows"] is not None else ""
        shown.add_row(one["name"], rows, _moment(one["published_at"]), *counts)
    return shown


def _grid(*titles: str) -> "Table":
    """Columns; of figures where the title begins with >."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title.lstrip(">"), justify="right" if title[0] == ">" else "left")
    return table


def _days(check: dict[str, Any]) -> str:
    marks = "".join(MARKS[mark] for mark in check["days"])
    judged = f" {check['days_failed']:,} of {check['judged']:,} verdicts failed"
    return marks + (judged if check["judged"] else "")


def _moment(text: str | None) -> str:
    return f"{text[:16].replace('T', ' ')} UTC" if text else "–"


COMMANDS = (checks,)
