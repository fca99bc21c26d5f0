"""Requests to a door that listens, and what Kafka holds afterwards."""

import gzip
import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from lakehouse_assets import settings
from lakehouse_assets.services.webhooks import Webhooks
from lakehouse_assets.sources.webhooks.limits import MAX_BODY, MAX_HEAD
from lakehouse_assets.sources.webhooks.records import MAX_DEPTH, MAX_EVENTS
from lakehouse_assets_tests.sources.webhooks import vendor
from lakehouse_assets_tests.sources.webhooks.vendor import (
    Request,
    charge,
    contact,
    hubspot,
    hubspot_v1,
    in_kafka,
    records,
    shopify,
    stripe,
)

pytestmark = pytest.mark.usefixtures("door")


@pytest.fixture
def nothing_more() -> Iterator[None]:
    """Whatever the test sends, Kafka holds no record more than before."""
    before = in_kafka()
    yield
    assert in_kafka() == before


@pytest.mark.parametrize(("request_of", "topic", "key", "kind", "webhook"), [
    (lambda: shopify({"id": 7, "a": [1, {}]}, "w-order"),
     "shopify.orders", "7", "orders/updated", "w-order"),
    (lambda: shopify({"id": 8}, "w-customer", "customers/create"),
     "shopify.customers", "8", "customers/create", "w-customer"),
    (lambda: stripe(charge("evt_charge")),
     "stripe.charges", "ch_1", "charge.succeeded", "evt_charge"),
    (lambda: stripe(charge("evt_customer", "customer.deleted", "cus_1")),
     "stripe.customers", "cus_1", "customer.deleted", "evt_customer"),
    (lambda: hubspot([contact(71)]),
     "hubspot.contacts", "512", "contact.creation", "71"),
    (lambda: hubspot_v1([contact(72, subscriptionType="company.deletion")]),
     "hubspot.companies", "512", "company.deletion", "72"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_an_event_is_one_record_of_its_topic_keyed_by_what_it_is_about(
    request_of: Callable[[], Request], topic: str, key: str, kind: str, webhook: str
) -> None:
    sent = request_of()
    assert sent.send().status == 200
    (record,) = records(webhook)
    assert (record.topic, record.key) == (topic, key.encode())
    found = json.loads(record.value)
    assert list(found)[:3] == ["_webhook_topic", "_webhook_id", "_received_at"]
    assert (found.pop("_webhook_topic"), found.pop("_webhook_id")) == (kind, webhook)
    assert len(found.pop("_received_at")) == len("2026-05-04T12:00:00.000Z")
    body = json.loads(sent.body)
    assert found == (body[0] if isinstance(body, list) else body)


@pytest.mark.parametrize(("request_of", "name", "webhook"), [
    (lambda: shopify({"id": 9}, "w-refund", "refunds/create"), "shopify", "w-refund"),
    (lambda: stripe(charge("evt_dispute", "charge.dispute.created")), "stripe", "evt_dispute"),
    (lambda: hubspot([contact(73, subscriptionType="deal.creation")]), "hubspot", "73"),
], ids=["shopify", "stripe", "hubspot"])  # fmt: skip
def test_an_event_of_another_type_is_kept_with_its_vendors_name(
    request_of: Callable[[], Request], name: str, webhook: str
) -> None:
    assert request_of().send().status == 200
    (record,) = records(webhook)
    assert record.topic == "webhooks.other"
    assert json.loads(record.value)["_vendor"] == name


def test_an_array_is_one_record_per_event_each_with_its_own_bytes() -> None:
    before = in_kafka()
    many = [contact(100 + n, note=f"}}]{n}\\\"") for n in range(5)]
    answer = hubspot(many).send()
    assert (answer.status, answer.said) == (200, {"received": 5, "recognised": 0})
    assert in_kafka() == before + 5
    assert json.loads(records("103")[0].value)["note"] == "}]3\\\""
    assert hubspot([]).send().said == {"received": 0, "recognised": 0}


def test_numbers_spaces_and_letters_stay_as_the_vendor_wrote_them() -> None:
    body = '\n{ "id":1 , "price":10.10, "big":1234567890123456789012, "e":"\\u00e9é" }\r\n'.encode()
    assert shopify(body, "w-verbatim").send().status == 200
    value = records("w-verbatim")[0].value
    assert value.endswith(body.strip().removeprefix(b"{"))


def test_a_redelivery_is_answered_and_not_sent_again() -> None:
    for sent in (shopify({"id": 1}, "w-again"), stripe(charge("evt_again")), hubspot([contact(9)])):
        assert sent.send().said == {"received": 1, "recognised": 0}
        assert sent.send().said == {"received": 1, "recognised": 1}
    assert [len(records(w)) for w in ("w-again", "evt_again", "9")] == [1, 1, 1]
    assert hubspot([contact(9, attemptNumber=3)]).send().said["recognised"] == 1
    assert hubspot([contact(9, objectId=513)]).send().said["recognised"] == 0, "ids may meet"


def test_the_previous_secret_is_valid_beside_the_new_one() -> None:
    assert stripe(charge("evt_rolled"), secret=vendor.PREVIOUS).send().status == 200


def spoiled(sent: Request, **headers: str | None) -> Request:
    changed = {**sent.headers, **{k.replace("_", "-"): v for k, v in headers.items()}}
    return Request(sent.vendor, sent.body, {k: v for k, v in changed.items() if v is not None})


def resaid(sent: Request) -> Request:
    return Request(sent.vendor, json.dumps(json.loads(sent.body), indent=1).encode(), sent.headers)


ORDER, EVENT = {"id": 1, "note": "é"}, charge("evt_forged")


@pytest.mark.parametrize(("request_of", "code"), [
    (lambda: shopify(ORDER, "f", secret=b"guessed"), "signature_mismatch"),
    (lambda: stripe(EVENT, secret=b"guessed"), "signature_mismatch"),
    (lambda: hubspot([contact(1)], secret=b"guessed"), "signature_mismatch"),
    (lambda: hubspot_v1([contact(1)], secret=b"guessed"), "signature_mismatch"),
    (lambda: resaid(shopify(ORDER, "f")), "signature_mismatch"),
    (lambda: resaid(stripe(EVENT)), "signature_mismatch"),
    (lambda: resaid(hubspot([contact(1)])), "signature_mismatch"),
    (lambda: spoiled(shopify(ORDER, "f"), X_Shopify_Hmac_Sha256=None), "signature_missing"),
    (lambda: spoiled(stripe(EVENT), Stripe_Signature=None), "signature_missing"),
    (lambda: spoiled(hubspot([contact(1)]), X_HubSpot_Signature_v3=None), "signature_missing"),
    (lambda: spoiled(stripe(EVENT), Stripe_Signature="v1=aa"), "signature_malformed"),
    (lambda: spoiled(hubspot([contact(1)]), X_HubSpot_Request_Timestamp="now"),
     "signature_malformed"),
    (lambda: stripe(EVENT, ahead_s=-310), "timestamp_stale"),
    (lambda: stripe(EVENT, ahead_s=310), "timestamp_future"),
    (lambda: hubspot([contact(1)], ahead_s=-310), "timestamp_stale"),
    (lambda: hubspot([contact(1)], ahead_s=310), "timestamp_future"),
])  # fmt: skip
@pytest.mark.usefixtures("nothing_more")
def test_who_cannot_sign_leaves_nothing(request_of: Callable[[], Request], code: str) -> None:
    answer = request_of().send()
    assert answer.code == (401, code)
    for secret in vendor.SECRETS.values():
        assert secret.encode() not in answer.body
    assert b"evt_forged" not in answer.body and "\xe9".encode() not in answer.body


@pytest.mark.parametrize(("body", "code"), [
    (b"\xff\xfe{}", "invalid_utf8"), (b'{"id": "\xc3\x28"}', "invalid_utf8"),
    (b"", "invalid_json"), (b'{"id": 1', "invalid_json"), (b'{"id": 1} {"id": 2}', "invalid_json"),
    (b'{"id": NaN}', "invalid_json"), (b'{"id": -Infinity}', "invalid_json"),
    (b'{"id": "\x01"}', "invalid_json"), (b"\xef\xbb\xbf{}", "invalid_json"),
    (b"[]", "not_an_object"), (b"null", "not_an_object"), (b'"text"', "not_an_object"),
    (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "too_deep"),
    (b"[" * 400_000, "too_deep"), (b'{"a":[' * 100_000, "too_deep"),
    (b'{"id": 1, "_webhook_topic": "x"}', "reserved_field"),
    (b'{"id": 1, "\\u005fwebhook_id": "x"}', "reserved_field"),
    (b'{"_received_at": 1, "_received_at": 2}', "reserved_field"),
    (b'{"_vendor": "x"}', "reserved_field"),
])  # fmt: skip
@pytest.mark.usefixtures("nothing_more")
def test_what_is_signed_and_no_event_is_refused_by_name(body: bytes, code: str) -> None:
    assert shopify(body, "w-bad").send().code == (400, code)


@pytest.mark.parametrize(("request_of", "code"), [
    (lambda: hubspot({"eventId": 1}), "not_an_array"),
    (lambda: hubspot([contact(5), "text"]), "not_an_array"),
    (lambda: hubspot([contact(5), {"eventId": 6}]), "not_an_event"),
    (lambda: hubspot([contact(5, _webhook_id="7")]), "reserved_field"),
    (lambda: hubspot([contact(n) for n in range(MAX_EVENTS + 1)]), "too_many_events"),
    (lambda: stripe({"id": "evt_1", "type": 7}), "not_an_event"),
    (lambda: shopify({"id": 1}, "w-1", "orders updated"), "not_an_event"),
    (lambda: shopify({"id": 1}, ""), "not_an_event"),
    # To what v1 signs bytes can be added without the secret, after these.
    (lambda: hubspot_v1(b"[]\x80" + b"\0" * 60 + b'[{"eventId":1}]'), "invalid_utf8"),
])  # fmt: skip
@pytest.mark.usefixtures("nothing_more")
def test_of_a_request_with_one_bad_event_nothing_is_sent(
    request_of: Callable[[], Request], code: str
) -> None:
    assert request_of().send().code == (400, code)


def test_json_that_few_parsers_like_is_not_lost() -> None:
    for n, body in enumerate((b'{"id":1,"half":"\\ud83d"}', b'{"id":1,"huge":-1e999}')):
        assert shopify(body, f"w-odd-{n}").send().status == 200
        assert records(f"w-odd-{n}")[0].value.endswith(body[1:])
    assert hubspot([contact(44, note="\ud83d")]).send().status == 200


def test_a_name_that_stands_twice_is_the_vendors_business() -> None:
    """The door keys by the last one, as Spark reads it."""
    assert shopify(b'{"id":1,"id":2}', "w-twice").send().status == 200
    (record,) = records("w-twice")
    assert record.key == b"2" and record.value.endswith(b',"id":1,"id":2}')


@pytest.mark.usefixtures("nothing_more")
def test_what_is_not_plain_json_is_refused_before_it_is_read() -> None:
    good = shopify({"id": 1}, "w-kind")
    for kind in ("text/plain", "application/xml", "application/json; charset=latin-1", ""):
        assert spoiled(good, Content_Type=kind).send().code == (415, "not_json")
    packed = shopify(gzip.compress(good.body), "w-gzip")
    answer = packed.send(("Content-Encoding", "gzip"))
    assert answer.code == (415, "encoded") and answer.headers["accept-encoding"] == "identity"
    assert good.send(("X-Shopify-Topic", "shop/update")).code == (400, "header_repeated")
    long = good.send(*[("X-Long", "x" * 4_000)] * (MAX_HEAD // 4_000 + 1))
    assert long.code == (431, "head_too_large")
    assert good.send(*[("X-Many", "1")] * 120).code == (431, "head_too_large")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.usefixtures("nothing_more")
def test_ten_megabytes_are_refused_whatever_content_length_says(chunked: bool) -> None:
    large = shopify({"id": 1, "note": "x" * 10_000_000}, "w-large")
    assert large.send(chunked=chunked).code == (413, "body_too_large")


def test_a_body_of_the_largest_size_is_taken() -> None:
    most: dict[str, Any] = {"id": 1, "note": ""}
    most["note"] = "x" * (MAX_BODY - len(json.dumps(most)))
    assert shopify(most, "w-most").send(chunked=True).status == 200
    assert len(records("w-most")[0].value) > MAX_BODY


def test_a_connection_goes_on_after_a_refusal(door: Webhooks) -> None:
    connection = HTTPConnection("127.0.0.1", settings.port("webhooks"), timeout=10)
    for request, status in ((shopify({"id": 1}, "k", secret=b"no"), 401),
                            (Request("shopify", b"x" * 2_000_000), 413),
                            (shopify({"id": 1}, "w-kept"), 200)):  # fmt: skip
        headers = vendor.JSON | request.headers
        connection.request("POST", "/webhooks/shopify", request.body, headers)
        assert vendor.heard(connection).status == status
    connection.close()
