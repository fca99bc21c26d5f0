"""`bench` and `chaos`: measuring and breaking; the work is in lakehouse_assets.bench and .chaos."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import click

from lakehouse_assets.commands import common

PASSING = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
Run = Callable[..., Any]


@click.command(context_settings=PASSING)
@click.argument("name", required=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(name: str | None, options: tuple[str, ...]) -> None:
    """Measure NAME, e.g. `bench ingest --rows 1000000 --json`; `bench` alone lists them."""
    names = _benches()
    if name is None or name.startswith("-"):
        click.echo("lakehouse bench NAME [--json] [options]\n" + "\n".join(f"  {n}" for n in names))
    elif name.replace("-", "_") not in names:
        raise click.ClickException(common.unknown("bench", name, names))
    else:
        _run(f"lakehouse_assets.bench.{name.replace('-', '_')}", f"bench {name}", options)


@click.command(context_settings=PASSING)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def chaos(options: tuple[str, ...]) -> None:
    """Kill things at seeded points, count what is lost, e.g. `chaos --kills 20 --seed 7`."""
    _run("lakehouse_assets.chaos", "chaos", options)


def _benches() -> list[str]:
    package = importlib.import_module("lakehouse_assets.bench")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")


def _run(module: str, said: str, options: tuple[str, ...]) -> None:
    """Call the module's `run` with the options its signature names; print what it returns."""
    loaded = importlib.import_module(module)
    run: Run = loaded.run
    named = inspect.signature(run).parameters
    params: list[click.Parameter] = [
        _as_option(p) for p in named.values() if p.kind is not p.VAR_KEYWORD
    ]
    if "json" not in named:
        params.append(click.Option(["--json"], is_flag=True, help="One object, on the last line."))

    def call(**given: Any) -> None:
        as_json = given["json"] if "json" in named else given.pop("json")
        found = run(**given)
        if isinstance(found, dict) and as_json:
            common.last_line(found)
        elif isinstance(found, dict):
            for name, value in found.items():
                click.echo(f"{name:<20} {value}")

    text = (inspect.getdoc(run) or loaded.__doc__ or "").split("\n\n")[0]
    command = click.Command(said, params=params, callback=call, help=text)
    command.main(list(options), prog_name=f"lakehouse {said}", standalone_mode=False)


def _as_option(parameter: inspect.Parameter) -> click.Option:
    """`rows: int = 1_000_000` becomes `--rows INTEGER`, `json: bool = False` the flag `--json`."""
    flag = "--" + parameter.name.replace("_", "-")
    default = None if parameter.default is parameter.empty else parameter.default
    if isinstance(default, bool) or parameter.annotation in (bool, "bool"):
        both = f"{flag}/--no-{flag[2:]}" if default else flag
        return click.Option([both, parameter.name], is_flag=True, default=bool(default))
    kinds: dict[object, type] = {"int": int, "float": float, "str": str}
    kind = kinds.get(parameter.annotation, parameter.annotation)
    known = kind if kind in (int, float, str) else type(default) if default is not None else str
    return click.Option([flag, parameter.name], type=known, default=default, show_default=True)


COMMANDS = (bench, chaos)
