"""The API of the weather's minutes, against a real table."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from lakehouse_assets.pages import weather
from lakehouse_assets.pages.app import WEATHER_FRESH_S, create_app
from lakehouse_assets_tests.pages.minutes import MINUTE, now, this_minute, write

ODD = ["O'Fallon", 'say "hi"', "'; drop table weather; --", "<img src=x onerror=alert(1)>",
       "Zürich 🌦️", "x" * 255, "{{7*7}}", "a\nb"]  # fmt: skip


@pytest.fixture
def api(database: psycopg.Connection, postgres: str, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", postgres)
    return TestClient(create_app(), base_url="http://127.0.0.1")


@pytest.fixture
def fresh(api: TestClient) -> Iterator[TestClient]:
    """One event loop for all its requests, as a server has."""
    with api:
        yield api


def latest(api: TestClient, since: str) -> dict[str, Any]:
    found = api.get("/api/weather/latest", params={"since": since})
    assert found.status_code == 200, found.text
    said: dict[str, Any] = found.json()
    return said


def test_it_answers_as_the_seed_tells(fresh: TestClient, table: psycopg.Connection) -> None:
    write(table, "San Francisco", datetime(2026, 1, 8, 14, 30), 72.5)
    write(table, "San Francisco", datetime(2026, 1, 8, 14, 31), 73.5)
    write(table, "New York", datetime(2026, 1, 8, 14, 30), 12.25)
    said = fresh.get("/api/weather").json()
    assert said["cities"] == ["New York", "San Francisco"]
    points = said["data"]["San Francisco"]
    assert [(p["time"], p["temperature"]) for p in points] == [
        ("2026-01-08T14:30:00.000Z", 72.5), ("2026-01-08T14:31:00.000Z", 73.5),
    ]  # fmt: skip
    assert fresh.get("/health").json() == {"status": "healthy"}


def test_since_brings_what_was_written_after_it_corrections_of_old_minutes_too(
    fresh: TestClient, table: psycopg.Connection
) -> None:
    old, new = this_minute() - 60 * MINUTE, this_minute()
    write(table, "Denver", old, 50, written_at=now() - 59 * MINUTE)
    write(table, "Denver", old + MINUTE, 51, written_at=now() - 58 * MINUTE)
    since = fresh.get("/api/weather").json()["since"]
    nothing = latest(fresh, since)
    assert (nothing["cities"], nothing["data"], nothing["since"]) == ([], {}, since)
    write(table, "Denver", old, 49.5)
    write(table, "Boston", new, 30)
    time.sleep(WEATHER_FRESH_S + 0.1)  # asked a moment ago: the answer is shared for so long
    said = latest(fresh, since)
    assert [p["temperature"] for p in said["data"]["Denver"]] == [49.5]
    assert said["cities"] == ["Boston", "Denver"]
    assert said["since"] > since and latest(fresh, said["since"])["cities"] == []


def test_what_is_answered_is_bounded(fresh: TestClient, table: psycopg.Connection) -> None:
    table.execute(
        "insert into weather select 'city ' || c, m, timestamp '2026-01-01' + m * interval '1 min'"
        " + c * interval '1 sec', null, 1, timestamp '2026-02-01'"
        f" from generate_series(1, {weather.CITIES + 9}) c,"
        f" generate_series(1, {weather.MINUTES + 5}) m"
    )
    said = fresh.get("/api/weather").json()
    assert len(said["cities"]) == weather.CITIES and said["cities_in_all"] == weather.CITIES + 9
    assert "city 1" not in said["cities"], "the last written are shown"
    for points in said["data"].values():
        assert len(points) == weather.MINUTES
        assert points[-1]["temperature"] == weather.MINUTES + 5, "the newest minutes are shown"
    assert len(latest(fresh, "2025-01-01")["cities"]) == weather.CITIES


def test_a_city_is_stored_and_told_verbatim(fresh: TestClient, table: psycopg.Connection) -> None:
    for city in ODD:
        write(table, city, this_minute(), 1)
    assert sorted(fresh.get("/api/weather").json()["cities"]) == sorted(ODD)


def test_what_is_no_number_is_null(fresh: TestClient, table: psycopg.Connection) -> None:
    for n, odd in enumerate((float("nan"), float("inf"), None)):
        write(table, "Nowhere", this_minute() - n * MINUTE, odd)
    points = fresh.get("/api/weather").json()["data"]["Nowhere"]
    assert [p["temperature"] for p in points] == [None, None, None]


def test_without_data_table_or_database_there_is_a_friendly_sentence(
    api: TestClient, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute("drop table if exists weather")
    said = api.get("/api/weather").json()
    assert (said["cities"], said["data"], said["since"]) == ([], {}, None)
    assert "No weather yet" in said["note"] and "lakehouse up weather" in said["note"]
    monkeypatch.setenv("PAGES_PASSWORD", "which nobody set there")
    assert "No weather yet" in weather.minutes().note
    monkeypatch.setattr("lakehouse_assets.serving.database.DATABASE", "no_such_database")
    assert "No weather yet" in weather.minutes().note


@pytest.mark.parametrize("since", ["", "yesterday", "2026-13-01", "NaN", "1'; drop table weather"])
def test_a_since_that_is_no_moment_is_answered_with_400(api: TestClient, since: str) -> None:
    for path in ("/api/weather/latest", f"/api/weather/latest?since={since}"):
        answer = api.get(path)
        assert answer.status_code == 400
        assert "is no timestamp" in answer.json()["error"]


@pytest.mark.parametrize(
    "spelled", ["2026-01-08T14:30:00.000Z", "2026-01-08T14:30:00", "2026-01-08 14:30:00",
                "2026-01-08T15:30:00+01:00", "2026-01-08T15:30:00 01:00"]
)  # fmt: skip
def test_a_moment_may_be_spelled_in_several_ways(spelled: str) -> None:
    assert weather.spelled(weather.parsed_since(spelled)) == "2026-01-08T14:30:00.000Z"


def test_while_postgres_is_away_the_answer_says_what_to_do(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://postgres:x@127.0.0.1:9/postgres")
    for path in ("/api/weather", "/api/weather/latest?since=2026-01-08"):
        answer = api.get(path)
        assert answer.status_code == 503 and "lakehouse up postgres" in answer.json()["error"]
    assert api.get("/health").status_code == 200


def test_the_query_reads_by_the_key_and_not_the_whole_table(table: psycopg.Connection) -> None:
    table.execute(
        "insert into weather select 'city ' || c, m, timestamp '2026-01-01' + m * interval '1 min',"
        " null, 1, timestamp '2026-02-01' from generate_series(1, 10) c,"
        " generate_series(1, 20000) m"
    )
    table.execute("analyze weather")
    plan = table.execute(f"explain analyze {weather.NEWEST}".encode(), {"since": None}).fetchall()
    text = "\n".join(row[0] for row in plan)
    assert "Seq Scan on weather" not in text, text
    begin = now()
    assert len(table.execute(weather.NEWEST.encode(), {"since": None}).fetchall()) == 1800
    assert now() - begin < timedelta(seconds=5)
