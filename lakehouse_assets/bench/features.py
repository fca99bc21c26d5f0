"""Customers' features over millions of charges: ours, and DuckDB's windows over the same files.

Customers have a heavy-tailed number of charges, which come in bouts. Full is the engine's rebuild,
from branch to publish; an increment is what the engine does when one more day has come, the newest.
Apart from these, one customer who makes all charges within a day: what windows that slide fear.
"""

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse_assets import settings
from lakehouse_assets.analytics.customer_risk_features import customer_risk_features as features
from lakehouse_assets.bench import _windows
from lakehouse_assets.bench._cost import cost, middle
from lakehouse_assets.bench._lab import Cost, Lab, doing, lab, say
from lakehouse_assets.lake import scope
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.semantic.payments import payments
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.payments.truth.features import risk_features

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

END = datetime(2026, 6, 1)  # of what is there before the increments; UTC
DAY = timedelta(days=1)
BOUT, BOUT_S = 4, 7_200  # so many charges of a customer within so many seconds
TASKS = 4  # that make the charges
WARM_UP = 10  # small increments in a pass of warm-up: a server that runs for weeks has had more
# A charge's columns from its `id`, its `bout`, and what is drawn for either, from 0 up to 1.
CHARGE = {
    "charge_id": "concat('ch_', hex(xxhash64(id)))",
    "event_id": "concat('evt_', hex(xxhash64(id)))",
    "provider": "'BRAINTREE'",
    "status": "case when d0 < .01 then null when d0 < .05 then 'pending'"
    " when d0 < .2 then 'failed' else 'succeeded' end",
    "currency": "if(d1 < .02, null, if(b1 < .9, 'EUR', 'USD'))",
    "amount": "cast(1 + pow(d2, 3) * 2000 as decimal(12,2))",
    "risk_score": "if(d3 < .05, null, cast(d3 * d4 * 101 as int))",
    "payment_method_id": "if(d5 < .02, null, concat('pm_', bout, '_', cast(d6 * d6 * 6 as int)))",
    "card_country": "element_at(array('US', 'GB', 'DE', 'FR', null), 1 + cast(d7 * d7 * 5 as int))",
    "arrived_at": "created_at + make_dt_interval(0, 0, 0, 1 + if(d8 < .01, d8 * 2e7, 0))",
    "updated_at": "created_at",
    "is_dirty": "false",
}
DRAWN = ("b0", "b1", *[f"d{n}" for n in range(11)])


def run(
    rows: int = 2_000_000,
    days: int = 365,
    customers: int = 200_000,
    hot: int = 100_000,
    warmup: int = 1,
    repeats: int = 3,
    sample: int = 100,
    seed: int = 7,
) -> dict[str, Any]:
    """Measure the features of `rows` charges over `days`, and increments of 1 % of them.

    `hot`: charges of one customer within a day, measured apart. `sample`: customers whose features
    are computed by brute force too. Medians of `repeats` are told, after `warmup` passes.
    """
    with lab(Spark()) as place:
        return measure(place, rows, days, customers, hot, (warmup, repeats), sample, seed)


def measure(
    place: Lab, rows: int, days: int, customers: int, hot: int, turns: tuple[int, int],
    sample: int, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """The same on services that run already."""
    pids = (os.getpid(), place.pid("spark"))
    with place.lake("hot") as lake:
        _add(lake, range(hot), (END - DAY, END), 1, seed)
        hottest, odd = _beside(lake, pids, turns), _as_the_rival(lake)
    with place.lake("features") as lake:
        with doing(f"making {rows:,} charges of {customers:,} customers over {days} days"):
            _add(lake, range(rows), (END - days * DAY, END), customers, seed)
        figures = _beside(lake, pids, turns)
        increment = _increments(lake, pids, turns, rows, customers, seed)
        odd += _as_the_rival(lake)
        sampled, brute = _as_the_truth(lake, customers, sample)
    say(f"the rival differs in {odd} rows; {sampled:,} rows by brute force, equal: {brute}")
    return {
        "rows": rows,
        **figures,
        "increment_s": round(increment.wall_s, 2),
        "increment_cpu_s": round(increment.cpu_s, 1),
        "increment_rows": rows // 100,
        "increment_pct": round(100 * increment.wall_s / figures["full_s"], 1),
        "equal": brute and not odd,
        "brute_force_rows": sampled,
        "hot": {"rows": hot, **hottest},
        "settings": {"days": days, "customers": customers, "cpus": os.cpu_count()},
    }


def _add(lake: Lake, ids: range, span: scope.Span, customers: int, seed: int) -> None:
    """Charges as the parent's next batch, spread over the span in the order of their ids."""
    lake.catalog.ensure(payments.contract)
    (begin, end), part = span, f"(bout - {ids.start // BOUT}) * {BOUT} / {len(ids)}"
    since = f"{part} * {(end - begin).total_seconds() - BOUT_S} + d9 * {BOUT_S}"
    made = CHARGE | {
        "created_at": f"timestamp'{begin}' + make_dt_interval(0, 0, 0, floor({since}))",
        "customer_id": f"if(d10 < .01, null, concat('cus_', cast(pow({customers}, b0) as int)))",
    }
    types = {name: column.type for name, column in payments.contract.columns.items()}
    numbered = lake.spark.range(ids.start, ids.stop, 1, TASKS)
    drawn = numbered.selectExpr("id", f"id div {BOUT} as bout").selectExpr(
        "*", *[_drawn(name, seed) for name in DRAWN]
    )
    columns = [f"cast({made.get(n, 'null')} as {types[n]}) as `{n}`" for n in types]
    head = lake.catalog.head(payments.name)
    stamp = scope.next_stamp(head.stamp, at="created_at", ranges=scope.as_ranges([span]))
    publish(lake, payments.contract, head, Change(drawn.selectExpr(*columns), "append", stamp))


def _drawn(name: str, seed: int) -> str:
    """A number from 0 up to 1, always the same for the same charge or bout."""
    of = "bout" if name[0] == "b" else "id"
    return f"pmod(xxhash64({of}, '{name}', {seed}), 1073741824) / 1073741824D as {name}"


def _beside(lake: Lake, pids: Sequence[int], turns: tuple[int, int]) -> dict[str, Any]:
    """The full computation of both sides in turns."""
    costs: dict[str, list[Cost]] = {"full": [], "compute": [], "rival": []}
    for number in range(sum(turns)):
        for name, took in (
            ("full", cost(pids, "our rebuild", partial(rebuild, lake, features))),
            ("compute", cost(pids, "computing alone", partial(_compute, lake))),
            ("rival", cost(pids[:1], "the rival", partial(_answer, lake))),
        ):
            costs[name] += [took] if number >= turns[0] else []
    full, compute, rival = (middle(costs[name]) for name in ("full", "compute", "rival"))
    return {
        "full_s": round(full.wall_s, 2),
        "full_cpu_s": round(full.cpu_s, 1),
        "compute_s": round(compute.wall_s, 2),
        "compute_cpu_s": round(compute.cpu_s, 1),
        "rival": {
            "name": _windows.NAME,
            "full_s": round(rival.wall_s, 2),
            "full_cpu_s": round(rival.cpu_s, 1),
        },
        "ratio": round(full.wall_s / rival.wall_s, 2),
    }


def _increments(
    lake: Lake, pids: Sequence[int], turns: tuple[int, int], rows: int, customers: int, seed: int
) -> Cost:
    """What one more day of 1 % of the rows costs; smaller days have warmed the way."""
    new, costs = rows // 100, list[Cost]()
    counts = turns[0] * WARM_UP * [new // WARM_UP] + turns[1] * [new]
    for number, count in enumerate(counts):
        first, day = rows + sum(counts[:number]), END + number * DAY
        _add(lake, range(first, first + count), (day, day + DAY), customers, seed)
        costs.append(cost(pids, f"{count:,} more", partial(advance, lake, features)))
    return middle(costs[-turns[1] :])


def _compute(lake: Lake) -> None:
    if features.transform is not None:
        made = features.transform(payments=lake.table(payments.name))
        made.write.format("noop").mode("overwrite").save()


def _answer(lake: Lake) -> Path:
    """The rival's features of all that the parent holds."""
    to = Path(settings.warehouse()) / "rival.parquet"
    files = [task.file.file_path for task in lake.catalog.load(payments.name).scan().plan_files()]
    _windows.answer([file.removeprefix("file://") for file in files], to)
    return to


def _as_the_rival(lake: Lake) -> int:
    """Rows in which the two sides differ."""
    with doing("comparing all rows with the rival's"):
        return _windows.differing(_stored(lake, features), _answer(lake))


def _as_the_truth(lake: Lake, customers: int, sample: int) -> tuple[int, bool]:
    """Customers of all sizes but the very largest, by brute force: how many rows, and if equal."""
    names = {f"'cus_{10 * (customers / 10) ** (n / sample):.0f}'" for n in range(sample)}
    chosen = f"customer_id in ({', '.join(sorted(names))})"
    with doing(f"computing {len(names)} customers by brute force"):
        found = _stored(lake, features, chosen).to_pylist()
        told = [*risk_features(_stored(lake, payments, chosen).to_pylist())]
    by_id = itemgetter("charge_id")
    return len(told), sorted(found, key=by_id) == sorted(told, key=by_id)


def _stored(lake: Lake, table: LakeTable, chosen: str = "true") -> "pa.Table":
    """As pyiceberg reads it, without bookkeeping."""
    columns = tuple(name for name in table.contract.columns if name[0] != "_")
    rows = lake.catalog.load(table.name).scan(row_filter=chosen, selected_fields=columns)
    return rows.to_arrow().select(columns)
