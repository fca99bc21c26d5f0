"""How each vendor signs a request, and whether a request is so signed.

Over the raw bytes, before anything parses them; compared in constant time, and with every secret
that is valid, so that time tells neither where a forgery differs nor which secret it met. A stamp
must lie within 300 s of the clock on both sides: the vendors' own libraries let any future pass,
and who can sign for tomorrow could replay it until then.

Shopify's signature and HubSpot's v1 cover the body alone. A captured request can be replayed for
ever; beyond what the door recognises, staging's keys make that harmless.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence

from lakehouse_assets.sources.webhooks.refusal import Refused

WINDOW_S = 300  # how far a stamp may be from now
STAMP_DIGITS = 20  # no clock has more; a longer number is not worth its parsing
# In the query HubSpot signs these as they are, however the address spells them.
DECODED = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$", "%27": "'",
    "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
ENCODED = re.compile("|".join(DECODED), re.IGNORECASE)

Secrets = Sequence[bytes]


def sign_stripe(body: bytes, secret: bytes, at: int) -> str:
    """`Stripe-Signature`; `at` in seconds."""
    return f"t={at},v1={_stripe(body, secret, at).hex()}"


def sign_shopify(body: bytes, secret: bytes) -> str:
    """`X-Shopify-Hmac-Sha256`."""
    return base64.b64encode(_hmac(secret, body)).decode()


def sign_hubspot(method: str, uri: str, body: bytes, secret: bytes, at_ms: int | str) -> str:
    """`X-HubSpot-Signature-v3`; `at_ms` is what `X-HubSpot-Request-Timestamp` says."""
    signed = b"".join([method.encode(), uri.encode(), body, str(at_ms).encode()])
    return base64.b64encode(_hmac(secret, signed)).decode()


def sign_hubspot_v1(body: bytes, secret: bytes) -> str:
    """`X-HubSpot-Signature`. No HMAC: bytes can be added to what is signed, but only behind ones
    that no JSON text has.
    """
    return hashlib.sha256(secret + body).hexdigest()


def verify_stripe(body: bytes, header: str, secrets: Secrets, now: float) -> None:
    """Any v1 may match: while a secret is rolled Stripe signs with both."""
    if not header:
        raise _missing("Stripe-Signature")
    stamp, signatures = _stripe_parts(header)
    _require(signatures, [_stripe(body, secret, stamp).hex() for secret in secrets])
    _require_fresh(stamp < now - WINDOW_S, stamp > now + WINDOW_S)


def verify_shopify(body: bytes, header: str, secrets: Secrets) -> None:
    if not header:
        raise _missing("X-Shopify-Hmac-Sha256")
    _require([header], [sign_shopify(body, secret) for secret in secrets])


def verify_hubspot(
    method: str, uri: str, body: bytes, signature: str, stamp: str, secrets: Secrets, now: float
) -> None:
    """Version 3. `uri` is the address to which HubSpot was told to send."""
    if not signature:
        raise _missing("X-HubSpot-Signature-v3")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= STAMP_DIGITS):
        raise Refused(401, "signature_malformed", "X-HubSpot-Request-Timestamp is no milliseconds.")
    spellings = {uri, ENCODED.sub(lambda found: DECODED[found[0].upper()], uri)}
    expected = [sign_hubspot(method, u, body, s, stamp) for u in spellings for s in secrets]
    _require([signature], expected)
    second = int(stamp) // 1000  # HubSpot's library takes whole seconds, and 300 for too old
    _require_fresh(now - second >= WINDOW_S, second > now + WINDOW_S)


def verify_hubspot_v1(body: bytes, signature: str, secrets: Secrets) -> None:
    if not signature:
        raise _missing("X-HubSpot-Signature-v3")
    _require([signature], [sign_hubspot_v1(body, secret) for secret in secrets])


def _stripe(body: bytes, secret: bytes, at: int) -> bytes:
    return _hmac(secret, b"%d." % at + body)


def _stripe_parts(header: str) -> tuple[int, list[str]]:
    """As Stripe's library reads it: the first `t`, every `v1`, anything else left alone."""
    pairs = [item.split("=", 2) for item in header.split(",")]
    try:
        stamp = int(next(p[1] for p in pairs if p[0] == "t")[: STAMP_DIGITS + 1])
        return stamp, [p[1] for p in pairs if p[0] == "v1"]
    except (IndexError, StopIteration, ValueError):
        raise Refused(
            401, "signature_malformed", "Stripe-Signature is not t=<seconds>,v1=<signature>."
        ) from None


def _hmac(secret: bytes, message: bytes) -> bytes:
    return hmac.digest(secret, message, "sha256")


def _require(given: Iterable[str], expected: Iterable[str]) -> None:
    """Every pair is compared, whichever of them matches."""
    sides = [(g.encode(), e.encode()) for g in given for e in expected]
    if not sum(hmac.compare_digest(*pair) for pair in sides):
        raise Refused(
            401, "signature_mismatch",
            "The signature is not that of this body with our secret. Signed are the raw bytes;"
            " compare the secret with the vendor's, and what a proxy changes on the way.",
        )  # fmt: skip


def _require_fresh(is_stale: bool, is_early: bool) -> None:
    if is_stale:
        raise Refused(401, "timestamp_stale", f"Signed more than {WINDOW_S} s ago: send it anew.")
    if is_early:
        raise Refused(
            401, "timestamp_future", f"Signed for more than {WINDOW_S} s ahead: set the clocks."
        )


def _missing(header: str) -> Refused:
    return Refused(401, "signature_missing", f"There is no {header} header.")
