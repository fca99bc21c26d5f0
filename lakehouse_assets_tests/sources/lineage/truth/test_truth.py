from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest

from lakehouse_assets.sources.lineage import FIRST_DAY, Dirt, events
from lakehouse_assets.sources.lineage.events import encoded
from lakehouse_assets.sources.lineage.truth import (
    MALFORMED,
    NO_UUID,
    NULL_VALUE,
    QUARANTINE,
    RAW,
    delivered,
    expected,
    parse,
)

ID = "5f0c5a7e-3f5d-4d0e-9b7e-0d4f5a6b7c8d"
(TABLE,) = RAW.values()


def test_every_record_is_a_row_and_the_bad_ones_are_set_aside_by_their_kind() -> None:
    made = list(events(3, 500, FIRST_DAY, Dirt(0.05, 0.08, 0.02)))
    truth = expected(delivered(made, FIRST_DAY, partitions=10))
    planted = Counter(event.kind for event in made)
    reasons = Counter(row["reason"] for row in truth[QUARANTINE])
    assert len(truth[TABLE]) == 500 and reasons[NULL_VALUE] == planted["null_value"] > 0
    assert reasons[NO_UUID] == planted["other_schema"] // 4, "one of four decodes by chance"
    assert sum(reasons.values()) == 500 - planted["clean"]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, NULL_VALUE),
        (b"", MALFORMED),
        (encoded(ID, 1)[:-1], MALFORMED),
        (encoded(ID, 1) + b"\0", MALFORMED),
        (b"\x01" + encoded(ID, 1)[1:], MALFORMED),  # a negative length
        (b"\xff" * 12, MALFORMED),
        (encoded("x" * 36, 1), NO_UUID),
    ],
)
def test_what_is_no_record_of_the_schema_is_an_error(value: bytes | None, error: str) -> None:
    assert parse(value) == (error, {"uuid": None, "timestamp": None})


@pytest.mark.parametrize("timestamp", [0, -1, 1_767_225_600_000, 2**63 - 1, -(2**63)])
def test_every_long_is_a_time(timestamp: int) -> None:
    assert parse(encoded(ID, timestamp)) == (None, {"uuid": ID, "timestamp": timestamp})


def test_a_row_lies_in_its_hour_as_four_texts_and_never_before_the_first() -> None:
    at = datetime(2026, 2, 4, 3, 59, tzinfo=timezone.utc)
    records = delivered(events(3, 1, FIRST_DAY), at)
    (row,) = expected(records)[TABLE]
    assert [row[c] for c in ("year", "month", "day", "hour")] == ["2026", "02", "04", "03"]
    (later,) = expected(records, at + timedelta(hours=2))[TABLE]
    assert later["hour"] == "05"
