"""What the bench of the weather concludes from what it saw."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.bench.weather import _waits
from lakehouse_assets.sources.oracle import Delivered

NOON = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)


def reading(offset: int, second: float, city: bytes = b"Boston") -> Delivered:
    return Delivered("weather", 0, offset, NOON + timedelta(seconds=second), city, b"{}")


def test_a_reading_is_seen_when_its_minute_counts_as_many_as_there_were_by_then() -> None:
    every = [reading(0, 1), reading(1, 6), reading(2, 7, b"Denver"), reading(3, 61), reading(4, 62)]
    noon = NOON.timestamp()
    minutes = {name: (name.encode(), NOON) for name in ("Boston", "Denver")}
    seen = [
        (noon + 4, {minutes["Boston"]: 1}),
        (noon + 10, {minutes["Boston"]: 2, minutes["Denver"]: 1}),
        (noon + 70, {(b"Boston", NOON + timedelta(minutes=1)): 1}),
    ]
    assert [*_waits(every, every, seen)] == [3, 4, 3, 9], "and the last one never"
    assert [*_waits(every, every[1:2], seen)] == [4]
