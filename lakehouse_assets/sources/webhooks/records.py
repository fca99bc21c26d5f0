"""A body's JSON as Kafka's records: the vendor's object, byte by byte, behind fields of ours.

    {"_webhook_topic":"orders/updated","_webhook_id":"…","_received_at":"2026-05-04T12:00:00.000Z",
     <the vendor's own fields>}

A record of `webhooks.other` begins with one more, `"_vendor":"stripe"`. An object that brings one
of these names itself, however escaped, is refused: of a name that stands twice Spark's parser takes
the last, so it would speak for us. Other names that stand twice are the vendor's business; the door
takes the last one, as Spark does.
"""

import json
import re
from itertools import accumulate
from typing import Any

import orjson

from lakehouse_assets.sources.webhooks.refusal import Refused

OURS = ("_vendor", "_webhook_topic", "_webhook_id", "_received_at")
MAX_DEPTH = 100  # objects and arrays inside each other; Spark's parser gives up at 1,000
MAX_EVENTS = 1_000  # of one request; HubSpot sends 100 at most
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
TOKEN = re.compile(STRING.pattern + rb"|[{}\[\]]", re.DOTALL)
STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
NOT_BRACKETS = bytes(set(range(256)) - STEPS.keys())


def parsed(body: bytes) -> Any:
    """Valid UTF-8, valid JSON, not too deep."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _read_slowly(body)
    if _depth(body) > MAX_DEPTH:
        raise _too_deep()
    return found


def an_object(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise Refused(400, "not_an_object", "The body is JSON, but no object: this vendor's are.")
    return _not_ours(found)


def objects(found: Any, body: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """Each element of an array with its own bytes."""
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Refused(400, "not_an_array", "The body is JSON, but no array of objects.")
    if len(found) > MAX_EVENTS:
        raise Refused(400, "too_many_events", f"More than {MAX_EVENTS:,} events: send fewer.")
    return [(_not_ours(one), raw) for one, raw in zip(found, _elements(body), strict=True)]


def record(fields: dict[str, str], raw: bytes) -> bytes:
    """The object `raw` with our fields before its own."""
    inside = raw.strip()[1:]
    comma = b"" if inside.lstrip().startswith(b"}") else b","
    return orjson.dumps(fields)[:-1] + comma + inside


def _not_ours(found: dict[str, Any]) -> dict[str, Any]:
    for name in OURS:
        if name in found:
            raise Refused(400, "reserved_field", f"The field {name} is the receiver's to write.")
    return found


def _elements(body: bytes) -> list[bytes]:
    """The objects of an array that is known to be valid: what stands at the second level."""
    found, depth, begin = [], 0, 0
    for token in TOKEN.finditer(body):
        step = STEPS.get(body[token.start()], 0)
        depth += step
        if step > 0 and depth == 2:
            begin = token.start()
        elif step < 0 and depth == 1:
            found.append(body[begin : token.end()])
    return found


def _depth(body: bytes) -> int:
    """Exact only where it may be too much; few brackets cannot be deep."""
    if (bound := body.count(b"{") + body.count(b"[")) <= MAX_DEPTH:
        return bound
    brackets = STRING.sub(b"", body).translate(None, NOT_BRACKETS)
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


def _read_slowly(body: bytes) -> Any:
    """Half a surrogate pair, or a number that no double holds, is JSON too: what a vendor signed is
    not lost for it. The depth is known first, since this parser recurses.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Refused(400, "invalid_utf8", f"Byte {error.start} is no UTF-8.") from None
    if _depth(body) > MAX_DEPTH:
        raise _too_deep()
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        raise Refused(400, "invalid_json", "The body is no JSON text.") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is Python's, not JSON's")


def _too_deep() -> Refused:
    return Refused(400, "too_deep", f"More than {MAX_DEPTH} objects or arrays inside each other.")
