"""The logging server: the seed's answers, its bounds, and what a fuzzer finds."""

import json
import socket
import time
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from confluent_kafka.admin import AdminClient, ConfigResource
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lakehouse_assets import settings
from lakehouse_assets.services.weather import Weather
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.webhooks.limits import MAX_HEAD
from lakehouse_assets_tests.sources.weather.asking import get, records

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip
CITIES = ("O'Fallon", 'He said "no"', "🌧️ Zürich", "'; drop table weather; --",
          "<script>alert(1)</script>", " ", "x" * 255, "🌧" * 255, "a\nb")  # fmt: skip


def test_a_reading_is_answered_as_the_seed_says_and_is_in_kafka(server: Weather) -> None:
    before = time.time()
    answer = get("/log?city=New%20York&temperature=72.5")
    after = time.time()
    (record,) = records("New York")
    ts = f"{record.arrived_at:%Y-%m-%d-%H}"
    data = {"city": "New York", "temperature": "72.5", "ts": ts}
    assert answer.status == 200
    assert answer.said == {"status": "success", "message": "Weather data logged", "data": data}
    assert json.loads(record.value or b"") == data, "the same in Kafka"
    assert int(before * 1000) <= record.arrived_at.timestamp() * 1000 <= after * 1000 + 1
    assert get("/health").said == {"status": "healthy"}


def test_the_topic_keeps_the_moment_that_the_server_says(server: Weather) -> None:
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    resource = ConfigResource(ConfigResource.Type.TOPIC, TOPIC)
    found = admin.describe_configs([resource])[resource].result(10)
    assert found["message.timestamp.type"].value == "CreateTime"
    assert found["message.timestamp.after.max.ms"].value == "300000"


@pytest.mark.parametrize("city", CITIES)
def test_a_city_is_kept_as_it_is_written(server: Weather, city: str) -> None:
    answer = get(f"/log?city={quote(city)}&temperature=1e1")
    assert (answer.status, answer.said["data"]["city"]) == (200, city)
    assert json.loads(records(city)[-1].value or b"")["city"] == city


@pytest.mark.parametrize("said", ["-150", "200", "+72.5", "72.", ".5", "-0.0", "7.25e1", "1e-400"])
def test_a_temperature_within_bounds_is_kept_as_it_is_written(server: Weather, said: str) -> None:
    answer = get(f"/log?city=Bounds&temperature={quote(said)}")
    assert (answer.status, answer.said["data"]["temperature"]) == (200, said)


@pytest.mark.parametrize(("query", "code"), [
    ("temperature=1", "city_wanted_once"), ("city=B", "temperature_wanted_once"),
    ("", "city_wanted_once"), ("city=B&city=C&temperature=1", "city_wanted_once"),
    ("city=&temperature=1", "city_invalid"), (f"city={'x' * 256}&temperature=1", "city_invalid"),
    ("city=a%00b&temperature=1", "city_invalid"), ("city=%ff&temperature=1", "not_utf8"),
    (f"city={'x' * 9_000}&temperature=1", "query_too_long"),
    ("city=B&temperature=1" + "&a=b" * 20, "too_many_parameters"),
    *[(f"city=B&temperature={said}", "temperature_invalid") for said in (
        "", "nan", "NaN", "inf", "-Infinity", "1e400", "200.01", "-150.0001", "warm", "72,5", "1_0",
        "0x1p3", "72.5d", "%C2%B2", "+72.5", "%2072.5", "1" + "0" * 50,
    )],
])  # fmt: skip
def test_what_is_no_reading_is_refused_with_its_reason(
    server: Weather, query: str, code: str
) -> None:
    before = len(records("B"))
    answer = get(f"/log?{query}")
    assert (answer.status, answer.said["error"]) == (400, code)
    assert answer.headers["content-type"] == "application/json" and answer.said["message"]
    assert len(records("B")) == before


def test_what_a_fuzzer_sends_has_a_described_answer_and_never_a_500(server: Weather) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()

        @effort(max_examples=60, deadline=None, database=None,
                suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(operation.as_strategy())
        def answers(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        answers()


def test_a_wrong_path_or_method_is_told_in_the_same_form(server: Weather) -> None:
    assert (get("/logs").status, get("/logs").said["error"]) == (404, "not_found")
    assert (get("/log", "POST").status, get("/log", "POST").said["error"]) == (405, "not_allowed")
    assert get("/docs").status == 200


def test_a_head_without_end_is_cut_off(server: Weather) -> None:
    with socket.create_connection(("127.0.0.1", settings.port("weather")), timeout=30) as line:
        for part in (b"GET /log?city=", *[b"x" * 4_096] * (MAX_HEAD // 4_096 + 1)):
            line.sendall(part)
            time.sleep(0.05)
        heard = line.recv(65_536)
    assert heard.startswith(b"HTTP/1.1 431 ") and b'"head_too_large"' in heard
