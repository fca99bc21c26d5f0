"""Every table against its generator's truth over what the topics hold; read by pyiceberg.

Nothing of the engine is asked, so that it cannot vouch for itself. Demo, chaos, benches and tests
compare by this one measure.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Protocol

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from lakehouse_assets import settings
from lakehouse_assets.sources.oracle import QUARANTINE, Delivered

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from lakehouse_assets.sources.storefront.truth.database import Differences

EXAMPLES = 3
AT_ONCE = 2_000  # rows
SHOWN = 600  # characters of a row in an example
RAW_BOOKKEEPING = ("_commit", "_loaded_at", "_error", "_payload", "checkpoint_id")
Row = dict[str, Any]
Key = tuple[Any, ...]

HISTORY, HISTORY_KEY = "metadata.check_history", ("table", "check", "partition", "commit")


@dataclass
class Compared:
    """One table (or the topic) beside its truth, by key."""

    table: str
    rows: int = 0
    lost: int = 0  # keys that the table lacks
    duplicated: int = 0  # rows too many of a key
    wrong: int = 0  # keys with other content, or that the truth does not know
    examples: list[str] = field(default_factory=list)
    good: str = "equals the truth"

    @property
    def is_equal(self) -> bool:
        return not (self.lost or self.duplicated or self.wrong)

    def note(self, what: str, key: Key, detail: str = "") -> None:
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{what} {key} {detail}".strip())


class Truth(Protocol):
    """What a source's module `truth` tells."""

    RAW: dict[str, str]  # raw tables by topic
    KEYS: dict[str, tuple[str, ...]]  # of every table that has a truth
    GIVEN: tuple[str, ...]  # tables that it takes as they are
    # Tables whose `entity_id` is an entity's first record in the truth; the first tells all records
    # with their entities. The tables' own ids depend on the order in which records came.
    ENTITIES: tuple[str, ...]
    expected: Callable[..., dict[str, list[Row]]]  # of records, the first hour, the tables given


def against_truth(
    truth: Truth, records: list[Delivered], tell: Callable[[str], None] = lambda what: None
) -> list[Compared]:
    """All tables of which this truth tells, and the log of checks, of which only uniqueness is
    known; the records are those of its topics.
    """
    tell(f"computing what {len(records):,} records must become")
    given = [rows_of(name) for name in truth.GIVEN]
    expected = truth.expected(records, settings.first_hour(), *given)
    bytes_of = {(truth.RAW[r.topic], r.partition, r.offset): r for r in records}
    raw, found = set(truth.RAW.values()), []
    entities = first_records(rows_of(truth.ENTITIES[0])) if truth.ENTITIES else {}
    for name, key in truth.KEYS.items():
        tell(f"comparing {name}")
        wanted, have = expected[name], rows_of(name)
        if name in raw:
            wanted = [_raw_expected(name, row, bytes_of) for row in wanted]
            have = list(map(_raw_found, have))
        elif name == QUARANTINE:  # which other sources have, too
            have = [_chosen(row, (*key, "stage", "reason"))
                    for row in have if row["source_table"] in raw]  # fmt: skip
        else:
            wanted, have = list(map(_public, wanted)), list(map(_public, have))
        if name in truth.ENTITIES:
            have = [row | {"entity_id": entities.get(row["entity_id"], ())} for row in have]
        found.append(compare(name, key, have, wanted))
    history = rows_of(HISTORY)
    unique = {_key(row, HISTORY_KEY): row for row in history}
    found.append(compare(HISTORY, HISTORY_KEY, history, unique.values()))
    found[-1].good = "no row twice"
    return found


def against_shop() -> list[Compared]:
    """The shop's tables as they are now beside the shop's own, once all was captured."""
    return [
        Compared(
            f"postgres.{told.table}", told.shop.rows, told.lacking, told.twice,
            told.unexpected + told.other, told.examples, f"equals {table}",
        )
        for table, told in beside_shop()
    ]  # fmt: skip


def against_minutes(place: str) -> Compared:
    """What pages are told of the weather at that place in PostgreSQL, beside the lake's table, once
    all was brought there.
    """
    import psycopg

    from lakehouse_assets.sources.weather.truth.averages import BY_MINUTE, KEYS

    columns = ("city", "window_start", "window_end", "avg_temperature", "record_count")
    with psycopg.connect(place) as pages:
        there = pages.execute(f"select {', '.join(columns)} from weather".encode()).fetchall()
    utc = [[v.replace(tzinfo=timezone.utc) if isinstance(v, datetime) else v for v in row]
           for row in there]  # fmt: skip
    have = [dict(zip(columns, row, strict=True)) for row in utc]
    wanted = [_chosen(row, columns) for row in rows_of(BY_MINUTE)]
    found = compare("postgres.weather", KEYS[BY_MINUTE], have, wanted)
    found.good = f"equals {BY_MINUTE}"
    return found


def beside_shop() -> "Iterator[tuple[str, Differences]]":
    """By our table's name, in what it and the shop's table differ."""
    from lakehouse_assets.sources.storefront.truth import CURRENT, KEYS
    from lakehouse_assets.sources.storefront.truth.database import differences

    for name, table in CURRENT.items():
        yield table, differences(name, _in_order(table, KEYS[table]))


def first_records(index: Iterable[Row]) -> dict[str, Key]:
    """Of each entity's id its first record, which does not depend on what came when."""
    firsts: dict[str, Key] = {}
    for row in index:
        record = (row["source"], row["source_id"])
        firsts[row["entity_id"]] = min(record, firsts.get(row["entity_id"], record))
    return firsts


def compare(name: str, key: tuple[str, ...], have: Iterable[Row], want: Iterable[Row]) -> Compared:
    result = Compared(name)
    stored: dict[Key, list[str]] = defaultdict(list)
    for row in have:
        stored[_key(row, key)].append(_text(row))
        result.rows += 1
    expected = {_key(row, key): _text(row) for row in want}
    for place in expected.keys() - stored.keys():
        result.lost += 1
        result.note("lost", place)
    for place, rows in stored.items():
        if len(rows) > 1:
            result.duplicated += len(rows) - 1
            result.note("duplicated", place, f"{len(rows)} rows")
        if place not in expected:
            result.wrong += 1
            result.note("unexpected", place)
        elif other := next((row for row in rows if row != expected[place]), None):
            result.wrong += 1
            said = f"is {other[:SHOWN]}, should be {expected[place][:SHOWN]}"
            result.note("wrong", place, said)
    return result


def rows_of(name: str) -> list[Row]:
    """As pyiceberg reads them; none of a table that was never made."""
    found = _read(name)
    rows: list[Row] = found.to_pylist() if found else []
    return rows


def _in_order(name: str, key: tuple[str, ...]) -> Iterator[Row]:
    """By key, and few at a time as Python's objects, which are many times as large."""
    if found := _read(name):
        for batch in found.sort_by([(part, "ascending") for part in key]).to_batches(AT_ONCE):
            yield from batch.to_pylist()


def _read(name: str) -> "pa.Table | None":
    try:
        return catalog().load_table(name).scan().to_arrow()
    except NoSuchTableError:
        return None


def catalog() -> SqlCatalog:
    uri = f"{settings.catalog_uri()}?timeout=30"
    return SqlCatalog(settings.CATALOG, uri=uri, warehouse=settings.warehouse())


def _public(row: Row) -> Row:
    """Columns that begin with `_` are bookkeeping."""
    return {name: value for name, value in row.items() if name[0] != "_"}


def _raw_found(row: Row) -> Row:
    """Some of a record's own fields begin with `_`, too."""
    public = {name: value for name, value in row.items() if name not in RAW_BOOKKEEPING}
    return public | {"error": row["_error"], "payload": row["_payload"]}


def _raw_expected(name: str, row: Row, records: dict[Key, Delivered]) -> Row:
    """With what raw adds: the topic's incarnation, the bytes where they are kept."""
    record = records[name, row["kafka_partition"], row["kafka_offset"]]
    kept = {n: v for n, v in row.items() if n != "has_unknown_fields"}
    return kept | {
        "payload": record.value if row["error"] or row["has_unknown_fields"] else None,
        "topic_generation": 0,
    }


def _chosen(row: Row, columns: Key) -> Row:
    return {name: row[name] for name in columns}


def _key(row: Row, key: tuple[str, ...]) -> Key:
    return tuple(row[name] for name in key)


def _text(row: Row) -> str:
    """One spelling of a row, whichever library read it."""
    plain = {
        name: value.astimezone(timezone.utc).isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }
    return repr(sorted(plain.items()))
