"""The service around the door: what it tells of itself, its bounds, and what a fuzzer finds."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from lakehouse_assets.services.webhooks import Webhooks
from lakehouse_assets.sources.webhooks.door import Door
from lakehouse_assets.sources.webhooks.limits import MAX_HEAD
from lakehouse_assets.sources.webhooks.protocol import REQUEST_S
from lakehouse_assets.sources.webhooks.signatures import sign_hubspot
from lakehouse_assets_tests.sources.webhooks.vendor import (
    SECRETS,
    Request,
    charge,
    contact,
    get,
    hubspot,
    in_kafka,
    records,
    shopify,
    stripe,
)
from lakehouse_assets_tests.support import lake_in

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip
FUZZED = effort(
    max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
SIGNED: dict[str, Callable[[Any], Request]] = {
    "shopify": lambda body: shopify(body, "w-fuzz"), "stripe": stripe, "hubspot": hubspot,
}  # fmt: skip


def test_what_a_fuzzer_sends_has_a_described_answer_and_never_a_500(door: Webhooks) -> None:
    schema = schemathesis.openapi.from_url(f"{door.url}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()

        @FUZZED
        @given(operation.as_strategy())
        def answers(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        answers()


@pytest.mark.parametrize("vendor", SIGNED)
def test_what_a_fuzzer_signs_is_taken_or_refused_as_an_event(door: Webhooks, vendor: str) -> None:
    schema = schemathesis.openapi.from_url(f"{door.url}/openapi.json")

    @FUZZED
    @given(schema[f"/webhooks/{vendor}"]["POST"].as_strategy())
    def answers(case: Any) -> None:
        assert SIGNED[vendor](case.body).send().status in (200, 400)

    answers()


def test_it_tells_how_it_is_and_what_it_counted(door: Webhooks) -> None:
    assert get("/health").said == {"status": "ok", "kafka": "up", "secrets_missing": []}
    before = counted("webhooks_events_total", topic="stripe.charges")
    for _ in range(2):
        stripe(charge("evt_counted")).send()
    stripe(charge("evt_counted"), secret=b"guessed").send()
    assert counted("webhooks_events_total", topic="stripe.charges") == before + 1
    assert counted("webhooks_recognised_total", vendor="stripe") >= 1
    assert counted("webhooks_requests_total", answer="signature_mismatch", vendor="stripe") >= 1
    assert counted("webhooks_seconds_count", vendor="stripe") >= 3
    assert counted("webhooks_kafka_up") == 1
    assert counted("webhooks_in_flight") == 0


def counted(name: str, **labels: str) -> float:
    told = ",".join(f'{k}="{v}"' for k, v in sorted(labels.items()))
    line = f"{name}{{{told}}} " if told else f"{name} "
    lines = get("/metrics").body.decode().splitlines()
    return sum(float(one.removeprefix(line)) for one in lines if one.startswith(line))


def test_a_wrong_path_or_method_is_told_in_the_same_form(door: Webhooks) -> None:
    assert get("/webhooks/adyen", "POST").code == (404, "not_found")
    assert get("/webhooks/stripe").code == (405, "not_allowed")
    assert get("/docs").status == 200


def test_a_door_without_a_secret_opens_for_nobody(
    door: Webhooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside another vendor's, which was set: then none is made."""
    kafka = settings.kafka_bootstrap()
    with lake_in(tmp_path / "a lake"), monkeypatch.context() as patch:
        patch.setenv("LAKEHOUSE_KAFKA", kafka)
        patch.setenv("STRIPE_WEBHOOK_SECRET", "  ")
        patch.delenv("STRIPE_WEBHOOK_SECRET_PREVIOUS")
        patch.delenv("HUBSPOT_WEBHOOK_SECRET")
        patch.setenv("LAKEHOUSE_WEBHOOKS_PER_S", "2")
        half = Webhooks()
        try:
            half.start()
            before = in_kafka()
            for sent in (stripe(charge("evt_1"), secret=b""), hubspot([contact(1)], secret=b"")):
                answer = sent.send()
                assert answer.code == (503, "no_secret") and answer.headers["retry-after"] == "60"
                assert f"{sent.vendor.upper()}_WEBHOOK_SECRET" in answer.said["message"]
            assert in_kafka() == before
            missing = ["STRIPE_WEBHOOK_SECRET", "HUBSPOT_WEBHOOK_SECRET"]
            assert get("/health").said["secrets_missing"] == missing
            answers = [shopify({"id": 1}, f"w-{n}").send() for n in range(8)]
            assert {a.status for a in answers} == {200, 429}
            assert answers[-1].headers["retry-after"] == "1"
        finally:
            half.stop()


@pytest.mark.parametrize("said", ["0", "many", "-1", "nan"])
def test_a_rate_that_is_none_is_refused_at_the_start(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_WEBHOOKS_PER_S", said)
    with pytest.raises(ValueError, match=f"LAKEHOUSE_WEBHOOKS_PER_S={said}"):
        Door()


def test_behind_a_proxy_hubspots_address_is_the_one_that_is_set(
    door: Webhooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka, uri = settings.kafka_bootstrap(), "https://hooks.example.com/lake/webhooks/hubspot"
    with lake_in(tmp_path / "a lake"), monkeypatch.context() as patch:
        patch.setenv("LAKEHOUSE_KAFKA", kafka)
        patch.setenv("LAKEHOUSE_WEBHOOKS_URL", "https://hooks.example.com/lake/")
        inside = Webhooks()
        try:
            inside.start()
            sent = hubspot([contact(41)])
            assert sent.send().status == 401
            stamp = sent.headers["X-HubSpot-Request-Timestamp"]
            secret = SECRETS["HUBSPOT_WEBHOOK_SECRET"].encode()
            signature = sign_hubspot("POST", uri, sent.body, secret, stamp)
            sent.headers["X-HubSpot-Signature-v3"] = signature
            assert sent.send().status == 200
        finally:
            inside.stop()


@pytest.mark.parametrize(("kept", "key"), [
    (b'"gid://shopify/Customer/17"', b"17"), (b"17", b"17"), (b"null", None),
    (b'"gid://x/\\ud83d"', None), (b'"gid://x/\\u00e9 1"', None), (b'["17"]', None),
    (b'"gid://x/' + b"1" * 300 + b'"', None),
])  # fmt: skip
def test_a_merge_is_keyed_by_whom_it_kept_or_by_its_delivery(
    door: Webhooks, kept: bytes, key: bytes | None
) -> None:
    body, webhook = b'{"admin_graphql_api_customer_kept_id":%s}' % kept, f"w-{kept.hex()[:40]}"
    assert shopify(body, webhook, "customers/merge").send().status == 200
    (record,) = records(webhook)
    assert (record.topic, record.key) == ("shopify.customers", key or webhook.encode())


def talk(*parts: bytes, pause_s: float = 0.0) -> bytes:
    """Raw bytes, and all that comes back until the other side hangs up."""
    with socket.create_connection(("127.0.0.1", settings.port("webhooks")), timeout=30) as line:
        for part in parts:
            line.sendall(part)
            time.sleep(pause_s)
        heard = b""
        while more := line.recv(65_536):
            heard += more
        return heard


@pytest.mark.parametrize("host", [b"[", b"a b", b"\xff", b"", b"x" * 300])
def test_a_host_that_is_none_breaks_nothing(door: Webhooks, host: bytes) -> None:
    head = b"POST /webhooks/hubspot?%s HTTP/1.1\r\nConnection: close\r\nHost: " + host
    kind = b"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
    assert b'"signature_missing"' in talk(head + kind)


def test_a_head_without_end_is_cut_off(door: Webhooks) -> None:
    begun = b"POST /webhooks/stripe HTTP/1.1\r\nX-Long: "
    heard = talk(begun, *[b"x" * 4_096] * (MAX_HEAD // 4_096 + 1), pause_s=0.05)
    assert heard.startswith(b"HTTP/1.1 431 ") and b'"head_too_large"' in heard


def test_what_is_no_http_is_told_so(door: Webhooks) -> None:
    heard = talk(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    assert heard.startswith(b"HTTP/1.1 400 ") and b'"invalid_http"' in heard


def test_a_sender_without_haste_does_not_hold_a_place(door: Webhooks) -> None:
    begun = b"POST /webhooks/stripe HTTP/1.1\r\nContent-Type: application/json\r\n"
    began = time.monotonic()
    heard = talk(begun + b"Content-Length: 100\r\n\r\n{")
    assert heard.startswith(b"HTTP/1.1 408 ") and b'"too_slow"' in heard
    assert REQUEST_S - 1 < time.monotonic() - began < REQUEST_S + 5
    assert counted("webhooks_in_flight") == 0
