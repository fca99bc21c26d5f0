"""Whose record it is: of many records of people by us, and by Splink on DuckDB with the same rules.

The records, of which the truth is known, are written as staging has them. Full is the engine's
first batch of semantic.entity_index, from branch to publish; an increment is what it does when 1 %
of the records have come or changed since: half are new, half have another mailbox.
"""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse_assets.bench import _splink
from lakehouse_assets.bench._cost import cost, middle
from lakehouse_assets.bench._lab import Cost, Lab, doing, lab, say
from lakehouse_assets.lake import scope, versions
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets.services.spark import Spark
from lakehouse_assets.sources.webhooks import identities
from lakehouse_assets.sources.webhooks.people import Identity
from lakehouse_assets.sources.webhooks.truth.people import Score, score

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame

CHUNK = 50_000  # records in memory while they are made
ONE_OF = 200  # records changes in an increment; as many come
PERSON = {  # a staged column from what is known of a record
    "customer_id": "source_id", "contact_id": "source_id", "email": "email", "phone": "phone",
    "first_name": "first_name", "last_name": "last_name", "country": "country",
    "full_name": "concat_ws(' ', first_name, last_name)", "is_deleted": "false",
    "created_at": "timestamp'2026-05-01'", "updated_at": "timestamp'2026-05-01'",
    "arrived_at": "timestamp'2026-05-01'",
}  # fmt: skip
MOVED = {"email": "concat('new.', email)", "updated_at": "timestamp'2026-05-02'"}

Who = tuple[str, str]  # source, source_id


def run(
    records: int = 120_000, warmup: int = 1, repeats: int = 3, seed: int = 7
) -> dict[str, Any]:
    """Measure the resolution of `records` records of people, and of 1 % that came or changed.

    Medians of `repeats` are told, after `warmup` passes.
    """
    with lab(Spark()) as place:
        return measure(place, records, (warmup, repeats), seed)


def measure(place: Lab, records: int, turns: tuple[int, int], seed: int) -> dict[str, Any]:
    """The same on services that run already."""
    known, new = place.folder / "known.parquet", place.folder / "new.parquet"
    with doing(f"making {records:,} records of people"):
        people = identities(seed, records + records // ONE_OF)
        real = _write(known, islice(people, records))
        _write(new, people)
    costs: dict[str, list[Cost]] = {"full": [], "rival": [], "increment": []}
    for number in range(sum(turns)):
        with place.lake("entities") as lake:
            told, found, is_equal = _turn(place, lake, known, new)
        for name, took in told.items():
            costs[name] += [took] if number >= turns[0] else []
    figures = score({who: entity for who, entity in found.items() if who in real}, real)
    full, rival, increment = (middle(costs[name]) for name in ("full", "rival", "increment"))
    say(f"f1 {figures.f1:.4f}; the rival groups the same: {is_equal}")
    return _told(records, full, increment, figures) | {
        "equal": is_equal,
        "rival": {
            "name": _splink.NAME,
            "full_s": round(rival.wall_s, 2),
            "full_cpu_s": round(rival.cpu_s, 1),
        },
        "settings": {"cpus": os.cpu_count(), "warmup": turns[0], "repeats": turns[1]},
    }


def _told(records: int, full: Cost, increment: Cost, figures: Score) -> dict[str, Any]:
    return {
        "records": records,
        "full_s": round(full.wall_s, 2),
        "full_cpu_s": round(full.cpu_s, 1),
        "increment_s": round(increment.wall_s, 2),
        "increment_cpu_s": round(increment.cpu_s, 1),
        "increment_records": 2 * (records // ONE_OF),
        "increment_pct": round(100 * increment.wall_s / full.wall_s, 1),
        "f1": round(figures.f1, 4),
        "precision": round(figures.precision, 4),
        "recall": round(figures.recall, 4),
    }


def _write(file: Path, people: Iterable[Identity]) -> dict[Who, str]:
    """The records as a Parquet file; who each really is."""
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    columns, real = list(Identity._fields), dict[Who, str]()
    schema = pa.schema([(name, pa.string()) for name in columns])
    with pq.ParquetWriter(file, schema) as writer:
        for chunk in _chunks(iter(people)):
            values = zip(*chunk, strict=True)
            arrays = [pa.array(column, pa.string()) for column in values]
            writer.write_table(pa.table(arrays, schema=schema))
            real |= {(one.source, one.source_id): one.person_id for one in chunk}
    return real


def _chunks(people: Iterator[Identity]) -> Iterator[list[Identity]]:
    while chunk := list(islice(people, CHUNK)):
        yield chunk


def _turn(
    place: Lab, lake: Lake, known: Path, new: Path
) -> tuple[dict[str, Cost], dict[Who, str], bool]:
    """What each took; the entity of each record after the full resolution; and whether the rival
    agrees with us then and after the increment.
    """
    pids, resolve = (os.getpid(), place.pid("spark")), partial(advance, lake, entity_index)
    with doing("writing them as staging has them"):
        _stage(lake, lake.spark.read.parquet(str(known)), PERSON)
    costs = {"full": cost(pids, "our full resolution", resolve)}
    index, agreed = _index(lake), list[tuple[int, int, int]]()
    work = partial(_ask, index, agreed)
    costs["rival"] = cost(pids[:1], "the rival", work)
    found = _entities(index)
    with doing("changing and adding 1 %"):
        some = f"pmod(xxhash64(source, source_id), {ONE_OF}) = 0"
        _stage(lake, lake.spark.read.parquet(str(known)).where(some), PERSON | MOVED)
        _stage(lake, lake.spark.read.parquet(str(new)), PERSON)
    costs["increment"] = cost(pids, "our increment", resolve)
    _ask(_index(lake), agreed)
    return costs, found, all(theirs == ours == both for theirs, ours, both in agreed)


def _stage(lake: Lake, people: "DataFrame", made: dict[str, str]) -> None:
    """New versions of these records in each source's staging table."""
    for source, table in entity_index.parents.items():
        contract, (key,) = table.contract, table.contract.key()
        lake.catalog.ensure(contract)
        columns = [f"cast({made.get(name, 'null')} as {column.type}) as `{name}`"
                   for name, column in contract.columns.items()]  # fmt: skip
        staged = people.where(f"source = '{source}'").selectExpr(*columns)
        head = lake.catalog.head(table.name)
        old = versions.only(lake.at(head), staged, (key,))
        changed = versions.differences(contract, staged, old)
        publish(lake, contract, head, Change(changed, "merge", scope.next_stamp(head.stamp)))


def _index(lake: Lake) -> "pa.Table":
    columns = _splink.COLUMNS
    scan = lake.catalog.load(entity_index.name).scan(selected_fields=columns)
    return scan.to_arrow().select(columns)


def _ask(index: "pa.Table", agreed: list[tuple[int, int, int]]) -> None:
    agreed.append(_splink.groups(index))


def _entities(index: "pa.Table") -> dict[Who, str]:
    source, source_id, entity = (index[name].to_pylist() for name in _splink.COLUMNS[:3])
    return dict(zip(zip(source, source_id, strict=True), entity, strict=True))
