"""What the vendors send: a request, whole but for its signature, and whom it tells of."""

import json
from typing import Any, NamedTuple

from lakehouse_assets.sources.event import CLEAN

Json = dict[str, Any]

VENDORS = ("shopify", "stripe", "hubspot")


class Known(NamedTuple):
    """A record of a person in one system, and who it is in truth."""

    source: str
    source_id: str
    person_id: str


class Request(NamedTuple):
    """One delivery; `kind` names the dirt planted in it and is never sent."""

    vendor: str
    headers: tuple[tuple[str, str], ...]  # without the signature, which is made when it is sent
    body: bytes
    topic: str  # the vendor's name of what happened; of several events the first one's
    ids: tuple[str, ...]  # the webhook's ids: one for each record that it becomes
    about: str  # the id of what it tells of: requests about one thing are sent in order
    known: Known | None = None
    kind: str = CLEAN
    made_ms: int = 0  # the instant it is sent at, by which sending is paced

    @property
    def path(self) -> str:
        return f"/webhooks/{self.vendor}"


JSON_HEADERS = (("Content-Type", "application/json"),)


def text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
