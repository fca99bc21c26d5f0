"""What the vendors' own libraries sign or accept we accept; what they refuse we refuse."""

import base64
import hashlib
import hmac
import time
from datetime import datetime, timezone

import pytest
from hubspot.exceptions import InvalidSignatureTimestampError
from hubspot.utils.signature import Signature
from hypothesis import example, given
from hypothesis import strategies as st
from shopify_app import ShopifyApp
from stripe import SignatureVerificationError, WebhookSignature

from lakehouse_assets.sources.webhooks.refusal import Refused
from lakehouse_assets.sources.webhooks.signatures import (
    WINDOW_S,
    sign_hubspot,
    sign_hubspot_v1,
    sign_shopify,
    sign_stripe,
    verify_hubspot,
    verify_hubspot_v1,
    verify_shopify,
    verify_stripe,
)

SECRET, OTHER = "whsec_é-secret", "other"
BOTH = [OTHER.encode(), SECRET.encode()]
NOW = 1_790_000_000
URI = "https://hooks.example.com/webhooks/hubspot"
bodies = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def verdict(verify: object, *args: object) -> str:
    """'' for accepted, else the code."""
    assert callable(verify)
    try:
        verify(*args)
    except Refused as refused:
        assert refused.status == 401
        return refused.code
    return ""


def stripe_accepts(body: str, header: str) -> bool:
    try:
        return bool(WebhookSignature.verify_header(body, header, SECRET, WINDOW_S))
    except (SignatureVerificationError, TypeError):  # the latter over letters that no hash has
        return False


@given(bodies)
def test_what_stripe_signs_is_accepted_and_what_we_sign_stripe_accepts(body: str) -> None:
    header = WebhookSignature.generate_signature_header(body, SECRET, NOW)
    assert header == sign_stripe(body.encode(), SECRET.encode(), NOW)
    assert verdict(verify_stripe, body.encode(), header, BOTH, NOW) == ""
    assert verdict(verify_stripe, body.encode() + b" ", header, BOTH, NOW) == "signature_mismatch"


@given(st.sampled_from(["{t},{v}", "{v},{t}", "{t},v1=00,{v}", "{t},v0=00", "{t}", "{v}", "",
                        "{t}, {v}", "{t},{v},", "{t},{t},{v}", "t=1,{t},{v}", "{t},v1,{v}",
                        "{t},{v}=", "{t},{v},v2=é", "t,{v}", "t=x,{v}", "T{t},{v}", " {t},{v}",
                        "{t},{v}\u00e9", "{t};{v}"]))  # fmt: skip
@example("{t},v1=aa,v1=bb,{v}")
def test_a_header_is_read_as_stripes_library_reads_it(form: str) -> None:
    body, now = '{"id":"evt_1"}', int(time.time())
    stamp, signature = sign_stripe(body.encode(), SECRET.encode(), now).split(",")
    header = form.format(t=stamp, v=signature)
    ours = verdict(verify_stripe, body.encode(), header, BOTH, now) == ""
    assert ours == stripe_accepts(body, header), header


def test_stripes_window_has_two_sides() -> None:
    body, now = "{}", int(time.time())
    for age, code in ((299, ""), (310, "timestamp_stale"), (-299, ""), (-301, "timestamp_future")):
        header = sign_stripe(body.encode(), SECRET.encode(), now - age)
        assert verdict(verify_stripe, body.encode(), header, BOTH, now) == code
        assert stripe_accepts(body, header) == (code != "timestamp_stale")


def test_a_wrong_signature_does_not_tell_whether_its_time_was_right() -> None:
    header = sign_stripe(b"{}", b"guessed", NOW - 1_000)
    assert verdict(verify_stripe, b"{}", header, BOTH, NOW) == "signature_mismatch"


def shopify_accepts(body: str, header: str, secret: str = SECRET) -> bool:
    app = ShopifyApp("client", "a newer one", old_client_secret=secret)
    headers = {"X-Shopify-Hmac-Sha256": header, "X-Shopify-Shop-Domain": "a.myshopify.com"}
    request = {"method": "POST", "headers": headers, "url": URI, "body": body}
    return app.verify_webhook_req(request).ok  # type: ignore[arg-type]


@given(bodies)
def test_what_shopifys_library_accepts_we_accept(body: str) -> None:
    signed = sign_shopify(body.encode(), SECRET.encode())
    assert shopify_accepts(body, signed)
    assert verdict(verify_shopify, body.encode(), signed, BOTH) == ""


@pytest.mark.parametrize("change", [
    lambda s: s[:-1], lambda s: s + "=", lambda s: s.swapcase(), lambda s: s.strip("="),
    lambda s: base64.b64decode(s).hex(), lambda s: "", lambda s: "x" * len(s), lambda s: s + "\n",
])  # fmt: skip
def test_what_shopifys_library_refuses_we_refuse(change: object) -> None:
    assert callable(change)
    header = change(sign_shopify(b"{}", SECRET.encode()))
    assert not shopify_accepts("{}", header)
    assert verdict(verify_shopify, b"{}", header, BOTH) in ("signature_missing",
                                                            "signature_mismatch")  # fmt: skip
    assert verdict(verify_shopify, b"{}", "é" * 44, BOTH) == "signature_mismatch"


@given(bodies)
def test_what_hubspot_signs_is_accepted(body: str) -> None:
    raw, stamp = body.encode(), str(NOW * 1000 + 7)
    theirs = Signature.get_signature(SECRET, body, "v3", URI, "POST", stamp)
    assert theirs == sign_hubspot("POST", URI, raw, SECRET.encode(), stamp)
    assert verdict(verify_hubspot, "POST", URI, raw, theirs, stamp, BOTH, NOW) == ""
    old = Signature.get_signature(SECRET, body, "v1")
    assert old == sign_hubspot_v1(raw, SECRET.encode())
    assert verdict(verify_hubspot_v1, raw, old, BOTH) == ""


@pytest.mark.parametrize("age_ms", [0, 299_000, 298_999, 301_500, 10**7])
def test_hubspots_window_is_its_librarys_and_ends_ahead_too(age_ms: int) -> None:
    now = datetime.now(timezone.utc).timestamp()
    stamp = str(int(now * 1000) - age_ms)
    signed = sign_hubspot("POST", URI, b"[]", SECRET.encode(), stamp)
    try:
        theirs = Signature.is_valid(signed, SECRET, "[]", URI, "POST", "v3", stamp)
    except InvalidSignatureTimestampError:
        theirs = False
    ours = verdict(verify_hubspot, "POST", URI, b"[]", signed, stamp, BOTH, now)
    assert ours == ("" if theirs else "timestamp_stale")
    ahead = now - 2 * age_ms / 1000 - 2
    told = verdict(verify_hubspot, "POST", URI, b"[]", signed, stamp, BOTH, ahead)
    assert told == ("timestamp_future" if age_ms + 2_000 > 300_000 else "")


def test_hubspot_signs_method_address_and_time_with_the_body() -> None:
    stamp = str(NOW * 1000)
    signed = sign_hubspot("POST", URI, b"[]", SECRET.encode(), stamp)
    for spoiled in (("GET", URI, b"[]", stamp), ("POST", URI + "/", b"[]", stamp),
                    ("POST", URI, b"[ ]", stamp), ("POST", URI, b"[]", stamp + "0")):  # fmt: skip
        *what, at = spoiled
        code = verdict(verify_hubspot, *what, signed, at, BOTH, NOW)
        assert code == "signature_mismatch"


def test_hubspot_signs_the_query_decoded() -> None:
    stamp = str(NOW * 1000)
    signed = sign_hubspot("POST", f"{URI}?to=a@b.c/d", b"[]", SECRET.encode(), stamp)
    spelled = f"{URI}?to=a%40b.c%2fd"
    assert verdict(verify_hubspot, "POST", spelled, b"[]", signed, stamp, BOTH, NOW) == ""


def test_no_secret_accepts_nothing() -> None:
    unsigned = base64.b64encode(hmac.digest(b"", b"{}", hashlib.sha256)).decode()
    assert verdict(verify_shopify, b"{}", unsigned, []) == "signature_mismatch"
