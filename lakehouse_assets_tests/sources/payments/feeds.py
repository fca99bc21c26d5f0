"""What the feeds' tests share: a run of all payments, read back as plain values."""

import json
from datetime import datetime
from typing import Any

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments

NOT_JSON = ("malformed", "null_value", "deletion")


def run(count: int = 6_000, dirt: Dirt = Dirt.none(), **more: Any) -> list[Event]:  # noqa: B008
    return list(payments(3, count, FIRST_DAY, dirt, **more))


def about(topic: str, events: list[Event], *kinds: str) -> list[dict[str, Any]]:
    """What the topic's events of these kinds say; of all kinds if none is named."""
    return [
        json.loads(e.value or b"", parse_float=str)
        for e in events
        if e.topic == topic and (e.kind in kinds or not kinds)
    ]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
