"""raw.weather: every record one row, as it was said, at the moment that its producer says."""

import json
from datetime import timedelta

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.weather import Weather, weather
from lakehouse_assets.sources.produce import ensure_topic
from lakehouse_assets.sources.weather import TOPIC, TOPIC_CONFIG
from lakehouse_assets.sources.weather.around import NO_READINGS
from lakehouse_assets.sources.weather.truth import raw
from lakehouse_assets.topics.kafka import HOUR, hour_of, now
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.support import broken_rules, fresh_topic, stored
from lakehouse_assets_tests.topics.records import ingest, parsed, send

SAID = {"city": "New York", "temperature": "72.5", "ts": "2026-01-08-14"}


def test_a_reading_stays_text_as_it_was_said(lake: Lake) -> None:
    odd = {"city": "<b>'Ü🌧️\n", "temperature": " 72,5", "ts": "?"}
    number = b'{"city": "Boston", "temperature": 72.5, "ts": null, "from": [1]}'
    found = parsed(lake, weather, *[json.dumps(s).encode() for s in (SAID, odd)], number)
    assert [{n: row[n] for n in SAID} for row in found] == [
        SAID, odd, {"city": "Boston", "temperature": "72.5", "ts": None},
    ]  # fmt: skip
    assert [row["_payload"] for row in found] == [None, None, number], "of `from` nobody knows"


def test_what_is_no_record_of_the_servers_is_an_error_row_or_stays_as_it_is(lake: Lake) -> None:
    found = parsed(lake, weather, *NO_READINGS)
    want = [raw.parse(value) for value in NO_READINGS]
    assert [row["_error"] for row in found] == [one.error for one in want]
    assert [{n: row[n] for n in SAID} for row in found] == [one.row for one in want]
    assert {"null value", "invalid utf-8", "malformed", None} == {row["_error"] for row in found}


def test_its_rule_measures_readings_of_no_city(lake: Lake) -> None:
    good: Row = {"city": "Boston"}
    dirty: list[Row] = [{"city": None}, {"city": ""}, {"city": "x" * 256}]
    assert broken_rules(lake, Weather, good, *dirty) == ["", *["city_named"] * 3]
    assert broken_rules(lake, Weather, {"_error": "malformed"}) == ["parses"]


def test_the_moment_of_the_reading_is_kept_and_an_hour_ends_with_the_next_ones_first(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = hour_of(now()) - HOUR
    monkeypatch.setenv("LAKEHOUSE_FIRST_HOUR", f"{hour:%Y-%m-%d-%H:%M}")
    fresh_topic(TOPIC)
    ensure_topic(TOPIC, partitions=1, config=TOPIC_CONFIG)
    moments = [hour + timedelta(minutes=5), hour + HOUR, hour + timedelta(minutes=6),
               hour - 30 * HOUR]  # fmt: skip
    for at in moments:
        send(TOPIC, json.dumps(SAID).encode(), at=at)
    ingest(lake, weather)
    found = sorted(stored("raw.weather"), key=lambda row: row["kafka_offset"])
    assert [row["arrived_at"] for row in found] == moments
    assert [row["ingest_hour"] for row in found] == [hour, *[hour + HOUR] * 3]
