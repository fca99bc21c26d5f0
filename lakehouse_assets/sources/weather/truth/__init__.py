"""What every table of the weather must hold after some records, from their bytes alone.

It is the oracle of tests, demo and chaos, so it shares no code with the engine, the layers or
Spark, and is written for reading, not for speed. Instants are UTC, rows come sorted by their key.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from lakehouse_assets.sources.oracle import LONG_AGO, PLACE, QUARANTINE, Delivered
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.truth import averages, raw, readings
from lakehouse_assets.sources.weather.truth.raw import Row

__all__ = ["ENTITIES", "GIVEN", "KEYS", "QUARANTINE", "RAW", "Delivered", "Truth", "expected"]

Truth = dict[str, list[Row]]  # table: its rows

RAW = {TOPIC: "raw.weather"}
KEYS: dict[str, tuple[str, ...]] = {  # of every table that has a truth
    RAW[TOPIC]: PLACE,
    readings.TABLE: readings.KEY,
    **averages.KEYS,
    QUARANTINE: ("source_table", *PLACE),
}
GIVEN: tuple[str, ...] = ()  # no table is taken as it is, none names an entity
ENTITIES: tuple[str, ...] = ()


def expected(records: Iterable[Delivered], first_hour: datetime = LONG_AGO) -> Truth:
    """The rows of every table; the order of the records does not matter, their offsets say it.

    `first_hour`: the lake's first, which takes everything older.
    """
    truth: Truth = {name: [] for name in KEYS}
    hours: dict[int, datetime] = {}
    staged: dict[tuple[object, ...], Row] = {}
    for record in sorted(records, key=lambda record: record[:3]):
        hour = hours[record.partition] = _hour(record, hours.get(record.partition, first_hour))
        place = {"kafka_partition": record.partition, "kafka_offset": record.offset}
        parsed = raw.parse(record.value)
        unknown = {"error": parsed.error, "has_unknown_fields": parsed.has_unknown_fields}
        arrival = {"arrived_at": record.arrived_at, "ingest_hour": hour}
        truth[RAW[TOPIC]].append(place | arrival | unknown | parsed.row)
        stage, reason = "parse", parsed.error
        if not parsed.error:
            row = readings.cleaned(parsed.row, record.arrived_at)
            stage, reason = "staging", readings.refused(row, hour)
            if not reason:
                staged[tuple(row[name] for name in readings.KEY)] = row
        if reason:
            why = {"source_table": RAW[TOPIC], "stage": stage, "reason": reason}
            truth[QUARANTINE].append(place | why)
    truth[readings.TABLE] = [staged[key] for key in sorted(staged)]
    return truth | averages.tables(truth[readings.TABLE])


def _hour(record: Delivered, reached: datetime) -> datetime:
    """Of a partition's records each lies in the newest hour that was reached until then: where
    producers say the time, an hour is over with the first record of a later one.
    """
    at = record.arrived_at
    its = at - timedelta(minutes=at.minute, seconds=at.second, microseconds=at.microsecond)
    return max(its, reached)
