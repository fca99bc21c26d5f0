"""analytics.weather_by_minute: what was read in a minute, city by city; and promise 3 on all tables
of the weather.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from random import Random

from lakehouse_assets.analytics.weather_by_minute import weather_by_minute
from lakehouse_assets.commands.compare import compare, rows_of
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.weather.around import around
from lakehouse_assets.sources.weather.truth import KEYS, QUARANTINE, Delivered, Truth, expected
from lakehouse_assets_tests.lake.tables import Row, add, own_lake, result
from lakehouse_assets_tests.support import rows

READINGS, MINUTES = weather_by_minute.parents.values()
NOON = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
RAW = "raw.weather"
MADE = [tables()[name] for name in KEYS if name not in (RAW, QUARANTINE)]
RECORDS, A_STEP = 160, timedelta(seconds=11)


def reading(minute: int, temperature: float, city: str = "Boston", second: int = 0) -> Row:
    start = NOON + minute * MINUTE
    return {"city": city, "read_at": start + timedelta(seconds=second), "window_start": start,
            "temperature_f": temperature, "window_end": start + MINUTE}  # fmt: skip


def averages(lake: Lake, *given: Row, newest: int) -> list[Row]:
    minutes = {row["window_start"]: row["window_end"] for row in given}
    opened = [{"window_start": start, "window_end": end, "is_open": start == NOON + newest * MINUTE}
              for start, end in minutes.items()]  # fmt: skip
    return result(
        weather_by_minute, readings=rows(lake.spark, READINGS.contract, *given),
        minutes=rows(lake.spark, MINUTES.contract, *opened),
    )  # fmt: skip


def test_a_minute_has_its_average_and_the_newest_is_open(lake: Lake) -> None:
    found = averages(lake, reading(0, 80.1), reading(0, 80.2, second=9), reading(1, 70.0),
                     reading(0, -5.5, "Denver"), newest=1)  # fmt: skip
    told = {(r["city"], (r["window_start"] - NOON) // MINUTE): r for r in found}
    assert {place: (r["avg_temperature"], r["record_count"], r["is_open"])
            for place, r in told.items()} == {
        ("Boston", 0): (80.15, 2, False), ("Boston", 1): (70.0, 1, True),
        ("Denver", 0): (-5.5, 1, False),
    }  # fmt: skip
    both = told["Boston", 0]
    assert (both["min_temperature_f"], both["max_temperature_f"]) == (80.1, 80.2)
    assert both["sum_temperature_f"] == Decimal("160.3")
    assert all(row["window_end"] - row["window_start"] == MINUTE for row in found)


def test_no_order_of_the_readings_changes_a_digit(lake: Lake) -> None:
    drawn = [Random(n).uniform(-150, 200) for n in range(300)]
    given = [reading(0, value, second=n % 60) for n, value in enumerate(drawn)]
    (one,) = averages(lake, *given, newest=0)
    (other,) = averages(lake, *given[::-1], newest=0)
    assert one["avg_temperature"] == other["avg_temperature"]
    assert abs(one["avg_temperature"] - sum(drawn) / 300) < 1e-9


def test_a_minute_that_nobody_knows_yet_is_not_open(lake: Lake) -> None:
    (row,) = result(
        weather_by_minute, readings=rows(lake.spark, READINGS.contract, reading(0, 1.0)),
        minutes=rows(lake.spark, MINUTES.contract),
    )  # fmt: skip
    assert row["is_open"] is False


def records(seed: int) -> list[Delivered]:
    """Dirty, late and doubled, over two partitions, as Kafka would hold them; midnight is among
    their moments.
    """
    rng, start, offsets = Random(seed), NOON + timedelta(hours=11, minutes=45), [0, 0]
    found = []
    for event in around(seed, RECORDS, start, A_STEP):
        partition = rng.randrange(2)
        at = datetime.fromtimestamp(event.at_ms / 1000, timezone.utc)
        place = ("weather", partition, offsets[partition])
        found.append(Delivered(*place, at, event.key, event.value))
        offsets[partition] += 1
    return found


def as_raw(told: Truth, batch: Iterable[Delivered]) -> list[Row]:
    """The raw rows of some records."""
    places = {(r.partition, r.offset) for r in batch}
    return [
        {n: v for n, v in row.items() if n not in ("error", "has_unknown_fields")}
        | {"_error": row["error"], "topic_generation": 0}
        for row in told[RAW]
        if (row["kafka_partition"], row["kafka_offset"]) in places
    ]


def check(want: Truth) -> None:
    for table in MADE:
        have = [{n: v for n, v in row.items() if n[0] != "_"} for row in rows_of(table.name)]
        found = compare(table.name, KEYS[table.name], have, want[table.name])
        assert found.is_equal and found.rows, (table.name, found.examples)


def test_any_split_into_batches_gives_the_rows_of_a_rebuild_and_of_the_truth(
    stack: Path, tmp_path: Path
) -> None:
    rng, every = Random(3), records(3)
    told = expected(every)
    assert len(told[QUARANTINE]) > 5 and len({r["read_on"] for r in told[MADE[-1].name]}) == 2
    left = sorted(every, key=lambda record: record.offset + rng.uniform(-20, 20))
    with own_lake(tmp_path / "bit by bit") as lake:
        while left:
            batch, left = left[: (size := rng.randint(15, 50))], left[size:]
            add(lake, tables()[RAW], *as_raw(told, batch), stated=False)
            for table in MADE:  # some fall behind, and one another
                if rng.random() < 0.7 or not left:
                    advance(lake, table)
        check(told)
        for table in MADE:
            rebuild(lake, table)
        check(told)
        advance(lake, weather_by_minute)
        check(told)


def test_late_readings_correct_their_minute_and_no_other_files_are_read(lake: Lake) -> None:
    add(lake, READINGS, *[reading(n, float(n)) for n in range(0, 600, 60)], stated=False)
    for table in (MINUTES, weather_by_minute):
        advance(lake, table)
    add(lake, READINGS, reading(60, 10.0, second=30), stated=False)
    advance(lake, MINUTES)
    outcome = advance(lake, weather_by_minute)
    assert outcome.tally is not None and outcome.tally["batch"] == 1
    head = lake.catalog.head(weather_by_minute.name)
    spans = head.stamp.ranges
    assert head.stamp.at == "window_end" and spans is not None and len(spans) == 1
    late = [row for row in rows_of(weather_by_minute.name) if row["window_start"].hour == 13]
    assert [(row["avg_temperature"], row["record_count"]) for row in late] == [(35.0, 2)]
