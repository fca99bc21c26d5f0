"""Killing things at seeded moments while events stream in, and counting what that did: nothing.

Runs and the servers that a source needs (Spark, the broker; of the web shop also Kafka Connect,
Postgres and the schema registry) are killed with -9 at the engine's named points or in the middle
of a write; runs are launched twice; tables are compacted and a neighbour commits meanwhile. In the
end every table is compared with the truth over what the topics hold, and that with what was sent;
the web shop's tables with its own database, too. The shop's transactions go on until the strike,
and while a killed server is away; what other sources send beside a run is there before.
"""

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import IO, Any

import click

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import Lab, lab, say
from lakehouse_assets.chaos._actor import GROUP, NEIGHBOUR, ONLY, chosen
from lakehouse_assets.chaos._captured import Captured
from lakehouse_assets.chaos._logged import Lineage
from lakehouse_assets.chaos._plan import BURST, CLIENT, POINTS, RUN, Step, plan
from lakehouse_assets.chaos._process import Actor
from lakehouse_assets.chaos._source import Source
from lakehouse_assets.chaos._stage import UNDER_TRAFFIC, Stage
from lakehouse_assets.chaos._streamed import Payments, Weather, Webhooks
from lakehouse_assets.commands import compare

SOURCES: dict[str, Callable[[], Source]] = {
    "payments": Payments, "webhooks": Webhooks, "storefront": Captured, "weather": Weather,
    "lineage": Lineage,
}  # fmt: skip
TRIES = 4  # for a kill that missed what it was to hit
SETTLE_RUNS = 6
ORPHANS_S = 3  # for queries whose client is gone to come to their end
COMPLETE = 20  # kills, from which on everything listed must have happened
COMPANY = ("compactions", "doubled", "raced", "queries_left_running")
NONE = ("lost", "duplicated", "wrong", "orphaned_branches", "hung_runs")
RESURRECTED = "resurrected"  # rows that the shop's database deleted and a table still has


class Failed(click.ClickException):
    """The figures are told all the same, as one object on the last line."""

    def __init__(self, why: list[str], figures: dict[str, Any]) -> None:
        super().__init__("; ".join(why))
        self.figures = figures

    def show(self, file: "IO[Any] | None" = None) -> None:
        super().show(file)
        click.echo(json.dumps(self.figures, default=str))


def run(
    kills: int = 20, seed: int = 7, only: str = "", source: str = "payments"
) -> dict[str, Any]:
    """Kill that many times, as the seed says, then count what was lost, doubled or made wrong.

    `source`: whose events stream in: payments, webhooks, storefront, weather or lineage. `only`:
    about this table and those that it is made of.
    """
    if source not in SOURCES:
        raise click.ClickException(f"There is no source {source}. There are: {', '.join(SOURCES)}.")
    chosen_source = SOURCES[source]()
    with (
        lab(*chosen_source.services()) as place,
        settings.environment({ONLY: only, GROUP: source}),
    ):
        result = measure(place, chosen_source, kills, seed)
    if why := complaints(result, kills):
        raise Failed(why, result)
    return result


def complaints(result: dict[str, Any], kills: int) -> list[str]:
    """What speaks against the engine, and against a chaos that did not do what it lists."""
    bad = {name: result[name] for name in (*NONE, RESURRECTED) if result.get(name)}
    why = [f"{name.replace('_', ' ')}: {count}" for name, count in bad.items()]
    if not result["has_settled"]:
        why.append("undisturbed runs still failed at the end")
    if result["kills"] < kills:
        why.append(f"only {result['kills']} of {kills} kills hit")
    if kills >= COMPLETE:
        counts = {f"kills of a {fault}": count for fault, count in result["by_fault"].items()}
        counts |= {f"runs killed at {point!r}": result["by_point"][point] for point in POINTS}
        counts |= {name: result[name] for name in (*COMPANY, "neighbour_commits")}
        counts |= {name: result[name] for name in (UNDER_TRAFFIC,) if name in result}
        never = [name for name, count in counts.items() if not count]
        why += [f"never happened: {', '.join(never)}"] if never else []
    return why


def measure(place: Lab, source: Source, kills: int, seed: int) -> dict[str, Any]:
    """The same on services that run already, on topics that do not exist yet."""
    names = [table.name for table in chosen()]
    steps = plan(kills, seed, names, source.servers, source.hand)
    source.begin(place, [t.topic for t in chosen() if t.topic], seed, TRIES * len(steps))
    stage = Stage(place, source)
    began, by_fault, by_point = time.monotonic(), Counter[str](), Counter[str]()
    neighbour = stage.start("neighbour")
    try:
        for step in steps:
            is_hit = _until_hit(stage, step)
            by_fault[step.fault] += is_hit
            by_point[step.point] += is_hit and step.fault == RUN
        has_settled = _settle(stage)
        neighbour.end()
        neighbour.wait(30)
        result = _judge(stage, neighbour)
    finally:
        stage.end_all()
    company = ("compactions_refused", *COMPANY, *[UNDER_TRAFFIC] * source.has_traffic)
    result = {"kills": by_fault.total(), "seed": seed} | result | {
        "has_settled": has_settled, "failed_runs": stage.failed, "hung_runs": stage.hung,
        "by_fault": {fault: by_fault[fault] for fault in (RUN, CLIENT, *source.servers)},
        "by_point": {point: by_point[point] for point in POINTS},
        "missed": stage.happened["missed"], **{name: stage.happened[name] for name in company},
        "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip
    say(f"{result['kills']} kills: lost {result['lost']}, duplicated {result['duplicated']}, "
        f"wrong {result['wrong']}, orphaned branches {result['orphaned_branches']}")  # fmt: skip
    return result


def _until_hit(stage: Stage, step: Step) -> bool:
    for _ in range(TRIES):
        began = time.monotonic()
        say(f"kill {step.number}: {step.told()}")
        if stage.play(step):
            say(f"  {time.monotonic() - began:.0f} s")
            return True
        say("  it hit nothing; once more")
        stage.happened["missed"] += 1
        step = step.again()
    return False


def _settle(stage: Stage) -> bool:
    """Run to the end of the topic, undisturbed, until two runs in a row were good."""
    stage.source.send(BURST[0])
    good = 0
    for _ in range(SETTLE_RUNS):
        good = good + 1 if stage.see_off(stage.start("run")) else 0
        if good == 2:
            return True
        time.sleep(ORPHANS_S)
    say(f"it did not settle: no two good runs in a row among {SETTLE_RUNS}")
    return False


def _judge(stage: Stage, neighbour: Actor) -> dict[str, Any]:
    verdict = stage.source.judged({table.name for table in chosen()})
    found = verdict.found
    for table in found:
        if not table.is_equal:
            say(f"{table.table}: lost {table.lost}, duplicated {table.duplicated}, "
                f"wrong {table.wrong}")  # fmt: skip
            for example in table.examples:
                say(f"  {example}")
    notes = len(compare.rows_of(NEIGHBOUR))
    promised = int(neighbour.heard[-1]) if neighbour.heard else -1
    if notes != promised:
        say(f"{NEIGHBOUR} has {notes} rows, its writer committed {promised}")
    branches = _branches()
    for table_name, names in branches.items():
        say(f"{table_name} still has {', '.join(names)}")
    every = [branch for names in branches.values() for branch in names]
    return {
        "lost": sum(t.lost for t in found),
        "duplicated": sum(t.duplicated for t in found),
        "wrong": sum(t.wrong for t in found) + abs(notes - promised),
        "orphaned_branches": sum(not b.startswith("failed_") for b in every),
        "held_branches": sum(b.startswith("failed_") for b in every),
        **verdict.more,
        "sent": verdict.sent,
        "records": verdict.records,
        "rows": {t.table: t.rows for t in found},
        "neighbour_commits": notes,
    }


def _branches() -> dict[str, list[str]]:
    """Every branch beside main, by table."""
    catalog, found = compare.catalog(), {}
    for space in catalog.list_namespaces():
        for name in catalog.list_tables(space):
            refs = [ref for ref in catalog.load_table(name).metadata.refs if ref != "main"]
            if refs:
                found[".".join(name)] = refs
    return found
