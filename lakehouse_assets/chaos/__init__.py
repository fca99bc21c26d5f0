"""Killing things at seeded moments while charges stream in, and counting what that did: nothing.

Runs, Spark and the broker are killed with -9 at the engine's named points or in the middle of a
write; runs are launched twice; tables are compacted and a neighbour commits meanwhile. In the end
every table is compared with the truth over what the topic holds.
"""

import time
from collections import Counter
from dataclasses import replace
from typing import Any

from lakehouse_assets.bench._lab import Lab, lab, say, tables
from lakehouse_assets.chaos import _oracle
from lakehouse_assets.chaos._actor import NEIGHBOUR
from lakehouse_assets.chaos._plan import BURST, Step, plan
from lakehouse_assets.chaos._stage import MEANWHILE, OUTAGE, Actor, Stage
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import TOPIC
from lakehouse_assets.sources.produce import ensure_topic

TRIES = 3  # for a kill that came too late to hit
SETTLE_RUNS = 6
ORPHANS_S = 3  # for queries whose client is gone to come to their end


def run(kills: int = 20, seed: int = 7) -> dict[str, Any]:
    """Kill that many times, as the seed says, then count what was lost, doubled or made wrong."""
    with lab(Kafka(), Spark()) as place:
        return measure(place, kills, seed)


def measure(place: Lab, kills: int, seed: int) -> dict[str, Any]:
    """The same on services that run already, on a topic that does not exist yet."""
    ensure_topic(TOPIC)
    steps = plan(kills, seed, list(tables()))
    most = (BURST[1] + MEANWHILE + OUTAGE) * TRIES * len(steps) + BURST[1]
    stage = Stage(place, seed, most)
    began, done = time.monotonic(), Counter[str]()
    neighbour = stage.start("neighbour")
    try:
        for step in steps:
            done[step.fault] += _until_hit(stage, step)
        has_settled = _settle(stage)
        neighbour.end()
        neighbour.wait(30)
        result = _judge(stage, neighbour)
    finally:
        stage.end_all()
    by_fault = {fault: done[fault] for fault in sorted(done)}
    result = {"kills": done.total(), "seed": seed} | result | {
        "has_settled": has_settled, "by_fault": by_fault, "failed_runs": stage.failed,
        "hung_runs": stage.hung, "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip
    say(f"{result['kills']} kills: lost {result['lost']}, duplicated {result['duplicated']}, "
        f"wrong {result['wrong']}, orphaned branches {result['orphaned_branches']}")  # fmt: skip
    return result


def _until_hit(stage: Stage, step: Step) -> int:
    """A second run can take all the news before the first comes to its point: once more, then."""
    for _ in range(TRIES):
        began = time.monotonic()
        say(f"kill {step.number}: {step.told()}")
        if stage.play(step):
            say(f"  {time.monotonic() - began:.0f} s")
            return 1
        say("  it hit nothing; once more")
        step = replace(step, is_doubled=False)
    return 0


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
    records = _oracle.read_back(TOPIC)
    found = _oracle.compared(records)
    unsent = stage.sent - len(records)  # acknowledged, and not in the topic
    if unsent:
        say(f"{stage.sent} records were acknowledged, the topic holds {len(records)}")
    for table in found:
        if not table.is_equal:
            say(f"{table.table}: lost {table.lost}, duplicated {table.duplicated}, "
                f"wrong {table.wrong}")  # fmt: skip
            for example in table.examples:
                say(f"  {example}")
    notes = len(_oracle.rows_of(NEIGHBOUR))
    promised = int(neighbour.heard[-1]) if neighbour.heard else -1
    if notes != promised:
        say(f"{NEIGHBOUR} has {notes} rows, its writer committed {promised}")
    branches = _oracle.branches()
    for table_name, names in branches.items():
        say(f"{table_name} still has {', '.join(names)}")
    every = [branch for names in branches.values() for branch in names]
    return {
        "lost": sum(t.lost for t in found) + max(unsent, 0),
        "duplicated": sum(t.duplicated for t in found) + max(-unsent, 0),
        "wrong": sum(t.wrong for t in found) + abs(notes - promised),
        "orphaned_branches": sum(not b.startswith("failed_") for b in every),
        "held_branches": sum(b.startswith("failed_") for b in every),
        "records": len(records),
        "rows": {t.table: t.rows for t in found},
        "neighbour_commits": notes,
    }
