"""What thirty rules cost inside a write, and beside pandera's own validate of the same rows.

A bare table with the columns of payment charges, ten of its rules patterns. The same records are
written in turns with the rules and without; the difference in CPU is what checking costs. pandera
then judges the stored rows, one Spark query a rule, and so do we, all rules in one query.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from lakehouse_assets.bench import _pandera
from lakehouse_assets.bench._lab import Cost, Lab, Meter, doing, lab, say
from lakehouse_assets.lake import ingest, quality, scope
from lakehouse_assets.lake.contract import Column, Layout, Rule, Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, Published, publish
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.raw.payment_charges import PaymentCharges
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments import CHARGES, Dirt, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import Kafka as Topics
from lakehouse_assets.topics.kafka import hour_of, now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")

HEX = "[0-9a-f]+"
COUNTRY = "^[A-Z]{2}$"
STATED: dict[str, dict[str, Any]] = {
    "event_id": {"nullable": False, "str_matches": f"^evt_{HEX}$"},
    "event_type": {"str_matches": r"^charge\.[a-z]+$"},
    "provider": {"nullable": False},
    "charge_id": {"nullable": False, "str_matches": f"^ch_{HEX}$"},
    "customer_id": {"nullable": False, "str_matches": f"^cus_{HEX}$"},
    "amount": {"nullable": False, "ge": 0},
    "currency": {"nullable": False, "isin": ("USD", "EUR", "GBP", "CAD", "AUD", "JPY", "CHF")},
    "status": {"isin": ("pending", "succeeded", "failed")},
    "payment_method_id": {"str_matches": f"^pm_{HEX}$"},
    "card_last4": {"str_matches": "^[0-9]{4}$"},
    "card_exp_month": {"ge": 1, "le": 12},
    "card_exp_year": {"ge": 2000, "le": 2100},
    "card_country": {"str_matches": COUNTRY},
    "billing_country": {"str_matches": COUNTRY},
    "billing_postal_code": {"str_matches": "^[A-Z0-9][A-Z0-9 -]{2,9}$"},
    "merchant_id": {"str_matches": f"^mer_{HEX}$"},
    "risk_score": {"ge": 0, "le": 100},
    "risk_level": {"isin": ("low", "normal", "elevated", "high", "highest")},
    "created_at": {"nullable": False},
    "updated_at": {"nullable": False},
}
ROWS = (
    Rule("updated_after_created", "updated_at >= created_at"),
    Rule("scored_if_levelled", "risk_level is null or risk_score is not null"),
)


def _contract(name: str, stated: dict[str, dict[str, Any]], rules: tuple[Rule, ...]) -> type[Table]:
    bare = {n: replace(c, nullable=True) for n, c in PaymentCharges.columns.items()}
    columns: dict[str, Column] = {n: replace(c, **stated.get(n, {})) for n, c in bare.items()}
    layout = Layout(unique_text=PaymentCharges.layout.unique_text)
    body = {"columns": columns, "layout": layout, "rules": rules, "__doc__": f"{name}: a bench's."}
    return type("Bare", (Table,), body, name=name)


RULED = _contract("bare.ruled", STATED, ROWS)
PLAIN = _contract("bare.plain", {}, ())
JUDGED = _contract("bare.ruled", STATED, ROWS)
# pandera does not know structs.
JUDGED.columns = {n: c for n, c in JUDGED.columns.items() if n != "metadata"}


def run(
    rows: int = 1_000_000,
    repeats: int = 3,
    warmup: int = 2,
    seed: int = 7,
    source: str = "kafka",
) -> dict[str, Any]:
    """Measure 30 rules on a bare table: with and without in turns, then pandera; medians are told.

    `source`: `kafka` parses the records in the write, as ingesting does; `table` reads them from a
    table, a far cheaper write, so that the same rules are a larger share. `warmup`: pairs of writes
    that do not count.
    """
    with lab(Kafka(), Spark()) as place:
        return measure(place, rows, repeats, warmup, seed, source)


def measure(
    place: Lab, rows: int, repeats: int, warmup: int, seed: int, source: str
) -> dict[str, Any]:
    """The same on services that run already, on a topic that does not exist yet."""
    with doing(f"sending {rows:,} charges with dirt in them"):
        ensure_topic(CHARGES)
        start = datetime.now(timezone.utc) - timedelta(days=1)
        produce(charges(seed, rows, start, Dirt(oversized=0), timedelta(days=1) / rows))
    with place.lake("checks") as lake:
        pids = (os.getpid(), place.pid("spark"))
        for contract in (PLAIN, RULED):
            lake.catalog.ensure(contract)
        written = _write(lake, PLAIN, _from_kafka)
        frame_of = _from_kafka if source == "kafka" else _from_table(written)
        costs = _in_turns(lake, pids, repeats, warmup, frame_of)
        told = _write(lake, RULED, frame_of)
        stored = _rows(lake, written)
        flat, turns = stored.drop("metadata"), (min(warmup, 1), repeats)
        mine, ours = _timed(pids, turns, "judging in one query", lambda: _judge(stored))
        broken, theirs = _timed(
            pids, turns, "pandera's validate", lambda: _pandera.broken(JUDGED, flat)
        )
    found = {name for name, failed in mine.items() if failed}
    if found != broken:
        say(f"verdicts differ: {sorted(found ^ broken)}")
    same = {"verdicts_equal": found == broken, "counts_equal": told.tally["failed"] == mine}
    return _result(rows, costs, ours, theirs, same, source, sorted(found))


def _write(lake: Lake, contract: type[Table], frame_of: "Callable[[Lake], DataFrame]") -> Published:
    """One batch by the engine's own path: branch, write with counts, judge, publish."""
    head = lake.catalog.head(contract.name)
    stamp = scope.next_stamp(head.stamp, run=lake.run)
    return publish(lake, contract, head, Change(frame_of(lake), "append", stamp, carry=False))


def _from_kafka(lake: Lake) -> "DataFrame":
    topic = Topics().topic(CHARGES)
    batch = ingest.Batch(topic, 0, topic.earliest, topic.latest, hour_of(now()), 0)
    return ingest.read(lake, LakeTable(PaymentCharges, "bench", topic=CHARGES), batch)


def _from_table(written: Published) -> "Callable[[Lake], DataFrame]":
    return lambda lake: _rows(lake, written).drop("_commit")


def _rows(lake: Lake, written: Published) -> "DataFrame":
    return lake.at(replace(written.head, snapshot_id=written.snapshot_id))


def _in_turns(
    lake: Lake,
    pids: Sequence[int],
    repeats: int,
    warmup: int,
    frame_of: "Callable[[Lake], DataFrame]",
) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {PLAIN.name: [], RULED.name: []}
    for number in range(warmup + repeats):
        for contract in (PLAIN, RULED):
            with Meter(*pids) as meter:
                _write(lake, contract, frame_of)
            say(f"{contract.name}: {meter.wall_s:.2f} s, {meter.cpu_s:.2f} CPU-s"
                f"{' (warm-up)' if number < warmup else ''}")  # fmt: skip
            if number >= warmup:
                costs[contract.name].append(Cost(meter.wall_s, meter.cpu_s))
    return costs


def _judge(stored: "DataFrame") -> dict[str, int]:
    row = stored.agg(*quality.broken(RULED.all_rules())).first()
    return {name: int(count) for name, count in row.asDict().items()} if row else {}


def _timed(
    pids: Sequence[int], turns: tuple[int, int], what: str, work: Callable[[], T]
) -> tuple[T, Cost]:
    """The answer, and the median cost of the later turns; the earlier ones are the warm-up."""
    answers, costs = [], []
    for _ in range(sum(turns)):
        with doing(what), Meter(*pids) as meter:
            answers.append(work())
        costs.append(Cost(meter.wall_s, meter.cpu_s))
    return answers[-1], _middle(costs[turns[0] :])


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(median(c.wall_s for c in costs), median(c.cpu_s for c in costs))


def _result(
    rows: int,
    costs: dict[str, list[Cost]],
    ours: Cost,
    pandera: Cost,
    same: dict[str, bool],
    source: str,
    broken: list[str],
) -> dict[str, Any]:
    plain, ruled = _middle(costs[PLAIN.name]), _middle(costs[RULED.name])
    rules = RULED.all_rules()
    added = 100 * (ruled.cpu_s - plain.cpu_s) / plain.cpu_s
    say(f"{len(rules)} rules add {added:.1f} % to the write's CPU ({source}); judging stored rows "
        f"takes us {ours.wall_s:.2f} s, pandera {pandera.wall_s:.2f} s")  # fmt: skip
    return same | {
        "rules": len(rules),
        "patterns": sum(1 for r in rules if r.name.endswith("_well_formed")),
        "rows": rows,
        "source": source,
        "added_pct": round(added, 1),
        "added_cpu_s": round(ruled.cpu_s - plain.cpu_s, 2),
        "write_cpu_s": {"without": round(plain.cpu_s, 2), "with": round(ruled.cpu_s, 2)},
        "write_s": {"without": round(plain.wall_s, 2), "with": round(ruled.wall_s, 2)},
        "ours_s": round(ours.wall_s, 3),
        "ours_cpu_s": round(ours.cpu_s, 2),
        "pandera_s": round(pandera.wall_s, 3),
        "pandera_cpu_s": round(pandera.cpu_s, 2),
        "broken": broken,
    }
