"""The shop's seeder over HTTP: what it does, what it refuses, and what a fuzzer finds."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg
import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lakehouse_assets import settings
from lakehouse_assets.services.shop import Shop
from lakehouse_assets.sources.storefront.database import connect, writer
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets_tests.sources.storefront.shops import (
    assert_sound,
    counted,
    empty_out,
    shop_lake,
)

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip
FUZZED = effort(
    max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
SMALL = {"customers": 60, "products": 40, "orders": 300}
SIZES = dict.fromkeys(SMALL, 20)  # no more of a fuzzer's


@pytest.fixture(scope="module")
def seeder(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop_lake(postgres, tmp_path_factory.mktemp("seeder") / "a lake"):
        shop = Shop()
        try:
            shop.start()
            yield shop
        finally:
            shop.stop()


@pytest.fixture
def empty(seeder: Shop) -> Iterator[psycopg.Connection]:
    ask("POST", "/traffic/stop")
    with connect() as connection:
        empty_out(connection)
        yield connection


def ask(
    method: str, path: str, body: object = None, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", settings.port("shop"), timeout=60)
    sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"} | (headers or {})
    connection.request(method, path, sent, kind)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    return answer.status, said


def test_it_fills_an_empty_shop_and_no_other_unless_it_is_told(empty: psycopg.Connection) -> None:
    status, said = ask("POST", "/seed/full", SMALL)
    assert status == 200 and said["rows"] == {
        name: counted(empty, f"select from {name}") for name in NAMES
    }
    status, said = ask("POST", "/seed/full", SMALL)
    assert (status, said["error"]) == (409, "conflict") and '"add": true' in said["message"]
    assert ask("POST", "/seed/full", SMALL | {"add": True})[0] == 200
    assert counted(empty, "select from orders") == 600
    assert_sound(empty)


def test_traffic_goes_on_until_it_is_stopped(empty: psycopg.Connection) -> None:
    ask("POST", "/seed/full", SMALL)
    status, said = ask("POST", "/traffic/start", {"rate": 200, "seed": 3})
    assert status == 200 and said["on"] and (said["rate"], said["seed"]) == (200, 3)
    for path in ("/traffic/start", "/seed/full"):
        assert ask("POST", path, {})[0] == 409, "one at a time writes"
    deadline = time.monotonic() + 20
    while ask("GET", "/health")[1]["traffic"]["transactions"] < 100:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    _, said = ask("POST", "/traffic/stop")
    assert not said["on"] and said["error"] is None
    assert sum(said["kinds"].values()) == said["transactions"] >= 100
    assert ask("POST", "/traffic/stop")[1] == said, "stopped for good, and no harm in asking twice"
    assert_sound(empty)


def test_somebody_elses_writing_is_not_disturbed(empty: psycopg.Connection) -> None:
    with writer():
        for path in ("/traffic/start", "/seed/full"):
            status, said = ask("POST", path)
            assert (status, said["error"]) == (409, "conflict")


def test_it_tells_how_it_is(empty: psycopg.Connection) -> None:
    ask("POST", "/seed/full", SMALL)
    status, said = ask("GET", "/health")
    assert status == 200 and said["database"] == "up" and set(said["rows"]) == set(NAMES)
    assert said["rows"]["orders"] == 300 and not said["traffic"]["on"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"orders": -1}, "body.orders"), ({"orders": 10**9}, "body.orders"),
        ({"orders": "many"}, "body.orders"), ({"ordres": 1}, "body.ordres"), ([], "body"),
        (b"{", "JSON"),
    ],
)  # fmt: skip
def test_what_is_asked_for_wrongly_is_told(seeder: Shop, body: object, told: str) -> None:
    status, said = ask("POST", "/seed/full", body)
    assert (status, said["error"]) == (422, "invalid") and told in said["message"]


def test_what_is_no_text_is_refused(seeder: Shop) -> None:
    status, said = ask("POST", "/seed/full", b"\xff")
    assert (status, said["error"]) == (400, "invalid")


def test_no_foreign_page_gets_in(seeder: Shop) -> None:
    own = seeder.url
    assert ask("POST", "/traffic/stop", headers={"Origin": own})[0] == 200
    status, said = ask("POST", "/traffic/stop", headers={"Origin": "https://evil.example"})
    assert (status, said["error"]) == (403, "foreign_page")
    bent = ask("GET", "/health", headers={"Host": "evil.example"})
    assert bent[0] == 403, "a name that was bent to this machine"


def test_unknown_paths_and_methods_are_told_and_there_are_docs(seeder: Shop) -> None:
    assert ask("GET", "/seed/half")[1]["error"] == "not_found"
    assert ask("GET", "/seed/full")[1]["error"] == "not_allowed"
    connection = HTTPConnection("127.0.0.1", settings.port("shop"), timeout=10)
    connection.request("GET", "/docs")
    assert connection.getresponse().status == 200


def test_what_a_fuzzer_sends_has_a_described_answer_and_never_a_500(
    empty: psycopg.Connection, seeder: Shop
) -> None:
    schema = schemathesis.openapi.from_url(f"{seeder.url}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()

        @FUZZED
        @given(operation.as_strategy())
        def answers(case: Any) -> None:
            if case.path == "/seed/full" and isinstance(case.body, dict):
                case.body = case.body | SIZES
            case.call_and_validate(checks=CHECKS)

        answers()
    ask("POST", "/traffic/stop")
    assert_sound(empty)


def test_a_database_that_is_away_is_told_and_waited_for(
    seeder: Shop, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeder.stop()
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://postgres:x@127.0.0.1:9/postgres")
    monkeypatch.setattr(Shop, "prepare", lambda _: None)
    try:
        seeder.start()
        assert ask("GET", "/health")[1]["database"] == "away"
        for path in ("/seed/full", "/traffic/start"):
            status, said = ask("POST", path)
            assert (status, said["error"]) == (503, "database_away")
    finally:
        seeder.stop()
        monkeypatch.undo()
        seeder.start()
