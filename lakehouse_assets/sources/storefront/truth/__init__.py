"""What raw and staging must hold after some changes of the shop, and what is made of them: from
Kafka's records and the registry's schemas alone.

It is the oracle of tests, chaos and demo, so it shares no code with the engine, the layers or
Spark, and is written for reading, not for speed. Instants are UTC, money is Decimal with two
places, rounded half up. What the shop's own database holds, `database` asks it.

- raw.storefront_<table> has every record, see `raw`.
- staging.stg_storefront_<table> has every change, see `changes`: a deletion and a reset (TRUNCATE,
  or the beginning of a snapshot) are rows, too.
- semantic.storefront_<table>, storefront_people and the histories are told from these in the order
  of the database's log, see `lives`; what is made of them, see `facts` and `marts`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from lakehouse_assets.sources.oracle import LONG_AGO, PLACE, QUARANTINE, Delivered, hour
from lakehouse_assets.sources.storefront.truth import changes, facts, lives, marts, raw
from lakehouse_assets.sources.storefront.truth.shape import TABLES
from lakehouse_assets.sources.storefront.truth.written import Schemas, registered

__all__ = [
    "ENTITIES", "GIVEN", "KEYS", "QUARANTINE", "RAW", "TOPICS", "Delivered", "Truth", "expected",
]  # fmt: skip

Row = dict[str, Any]
Truth = dict[str, list[Row]]

TOPICS = {f"storefront.public.{name}": name for name in TABLES}
RAW = {topic: f"raw.storefront_{name}" for topic, name in TOPICS.items()}
STAGING = {name: f"staging.stg_storefront_{name}" for name in TABLES}
CURRENT = {name: f"semantic.storefront_{name}" for name in TABLES}
KEYS: dict[str, tuple[str, ...]] = {  # of every table that has a truth
    **dict.fromkeys(RAW.values(), PLACE),
    **{STAGING[name]: (*table.key, "op", "lsn") for name, table in TABLES.items()},
    **{CURRENT[name]: table.key for name, table in TABLES.items()},
    **lives.KEYS, **facts.KEYS, **marts.KEYS,
    QUARANTINE: ("source_table", *PLACE),
}  # fmt: skip
GIVEN: tuple[str, ...] = ()
ENTITIES: tuple[str, ...] = ()


def expected(
    records: Iterable[Delivered],
    first_hour: datetime = LONG_AGO,
    schemas_of: Callable[[str], Schemas] = registered,
) -> Truth:
    """The rows of every table; the order of the records does not matter, their offsets say it.

    `first_hour`: the lake's first, which takes everything older. `schemas_of`: the Avro schemas of
    a topic's values, by id.
    """
    truth: Truth = {name: [] for name in KEYS}
    accepted: dict[str, list[Row]] = defaultdict(list)
    readers = {topic: raw.Reader(TABLES[name], schemas_of(topic)) for topic, name in TOPICS.items()}
    for record in sorted(records, key=lambda record: record[:3]):
        name, kept_in = TOPICS[record.topic], RAW[record.topic]
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        parsed = readers[record.topic].parse(record.value)
        unknown = {"error": parsed.error, "has_unknown_fields": parsed.has_unknown_fields}
        arrival = {"arrived_at": record.arrived_at, "ingest_hour": hour(record, first_hour)}
        truth[kept_in].append(place | arrival | unknown | parsed.row)
        stage, reasons = "parse", [parsed.error]
        if not parsed.error and record.value is not None:
            told = changes.told(TABLES[name], parsed.row, record.arrived_at)
            stage, reasons = "staging", [changes.refused(TABLES[name], row) for row in told]
            accepted[name] += [r for r, why in zip(told, reasons, strict=True) if not why]
        why = {"source_table": kept_in, "stage": stage}
        truth[QUARANTINE] += [place | why | {"reason": reason} for reason in reasons if reason]
    for name, table in TABLES.items():
        truth[STAGING[name]] = staged = changes.once(table, accepted[name])
        truth[CURRENT[name]] = lives.current(table, staged)
    truth |= lives.histories(truth)
    truth |= facts.tables(truth)
    return truth | marts.tables(truth)
