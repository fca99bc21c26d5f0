"""Killing things at seeded moments while events stream in, and counting what that did: nothing.

Runs, Spark and the broker are killed with -9 at the engine's named points or in the middle of a
write; runs are launched twice; tables are compacted and a neighbour commits meanwhile. In the end
every table is compared with the truth over what the topic holds, and that with what was sent.
"""

import json
import time
from collections import Counter
from typing import IO, Any

import click

from lakehouse_assets.bench._lab import Lab, environment, lab, say
from lakehouse_assets.chaos._actor import GROUP, NEIGHBOUR, ONLY, chosen, group
from lakehouse_assets.chaos._plan import BURST, FAULTS, POINTS, RUN, Step, plan
from lakehouse_assets.chaos._process import Actor
from lakehouse_assets.chaos._stage import MEANWHILE, OUTAGE, Stage
from lakehouse_assets.commands import compare, readback
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import truth as of_payments
from lakehouse_assets.sources.produce import ensure_topic
from lakehouse_assets.sources.webhooks import truth as of_webhooks

TRUTHS: dict[str, compare.Truth] = {"payments": of_payments, "webhooks": of_webhooks}
TRIES = 4  # for a kill that missed what it was to hit
SETTLE_RUNS = 6
ORPHANS_S = 3  # for queries whose client is gone to come to their end
COMPLETE = 20  # kills, from which on everything listed must have happened
COMPANY = ("compactions", "doubled", "raced", "queries_left_running")
NONE = ("lost", "duplicated", "wrong", "orphaned_branches", "hung_runs")


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

    `source`: whose events stream in, payments or webhooks. `only`: about this table and those that
    it is made of.
    """
    if source not in TRUTHS:
        raise click.ClickException(f"There is no source {source}. There are: {', '.join(TRUTHS)}.")
    with lab(Kafka(), Spark()) as place, environment({ONLY: only, GROUP: source}):
        result = measure(place, kills, seed)
    if why := complaints(result, kills):
        raise Failed(why, result)
    return result


def complaints(result: dict[str, Any], kills: int) -> list[str]:
    """What speaks against the engine, and against a chaos that did not do what it lists."""
    why = [f"{name.replace('_', ' ')}: {result[name]}" for name in NONE if result[name]]
    if not result["has_settled"]:
        why.append("undisturbed runs still failed at the end")
    if result["kills"] < kills:
        why.append(f"only {result['kills']} of {kills} kills hit")
    if kills >= COMPLETE:
        counts = {f"kills of a {fault}": result["by_fault"][fault] for fault in FAULTS}
        counts |= {f"runs killed at {point!r}": result["by_point"][point] for point in POINTS}
        counts |= {name: result[name] for name in (*COMPANY, "neighbour_commits")}
        never = [name for name, count in counts.items() if not count]
        why += [f"never happened: {', '.join(never)}"] if never else []
    return why


def measure(place: Lab, kills: int, seed: int) -> dict[str, Any]:
    """The same on services that run already, on a topic that does not exist yet."""
    topics = [table.topic for table in chosen() if table.topic]
    for topic in topics:
        ensure_topic(topic)
    steps = plan(kills, seed, [table.name for table in chosen()])
    most = (BURST[1] + MEANWHILE + OUTAGE) * TRIES * len(steps) + BURST[1]
    stage = Stage(place, seed, most, topics)
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
    company = ("compactions_refused", *COMPANY)
    result = {"kills": by_fault.total(), "seed": seed} | result | {
        "has_settled": has_settled, "failed_runs": stage.failed, "hung_runs": stage.hung,
        "by_fault": {fault: by_fault[fault] for fault in FAULTS},
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
    stage.send(BURST[0])
    good = 0
    for _ in range(SETTLE_RUNS):
        good = good + 1 if stage.see_off(stage.start("run")) else 0
        if good == 2:
            return True
        time.sleep(ORPHANS_S)
    say(f"it did not settle: no two good runs in a row among {SETTLE_RUNS}")
    return False


def _judge(stage: Stage, neighbour: Actor) -> dict[str, Any]:
    records, about = readback.read_back(stage.topics), {table.name for table in chosen()}
    compared = compare.against_truth(TRUTHS[group()], records)
    told = [one for one in compared if one.table in about]
    found = [*stage.sent.beside(records), *told]
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
        "sent": stage.sent.count,
        "records": len(records),
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
