"""A record becomes one row: typed, or with the reason why not and its bytes."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from lakehouse_assets.lake.advance import Outcome
from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import COMMIT, column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.topics.kafka import hour_of, now
from lakehouse_assets_tests.lake.tables import Row, own_lake
from lakehouse_assets_tests.support import stored
from lakehouse_assets_tests.topics.records import ingest, make_topic, notes, send
from lakehouse_assets_tests.topics.records import parsed as rows_of

BIG = b'{"id": "big", "tags": {"colour": "' + b"x" * 5_000_000 + b'"}}'
WHOLE = (
    b'{"id":"a","amount":1.5,"count":2,"made_at":"2024-03-01T01:00:00+01:00",'
    b'"tags":{"colour":"r","shape":"s"}}'
)

# name: the record, why it is an error, whether its bytes are kept, some of its fields
RECORDS: dict[str, tuple[bytes | None, str | None, bool, Row]] = {
    "whole": (WHOLE, None, False, {
        "id": "a", "amount": Decimal("1.50"), "count": 2,
        "made_at": datetime(2024, 3, 1, tzinfo=timezone.utc), "tags": {"colour": "r", "shape": "s"},
    }),
    "missing fields": (b'{"id":"a"}', None, False, {"id": "a", "amount": None, "tags": None}),
    "no fields": (b"{}", None, False, {"id": None}),
    "other order": (b'{"count":1,"id":"a"}', None, False, {"id": "a", "count": 1}),
    "unknown field": (b'{"id":"a","new":1}', None, True, {"id": "a"}),
    "unknown field in an object": (
        b'{"id":"a","tags":{"shape":"s","new":"1"}}', None, True,
        {"tags": {"colour": None, "shape": "s"}},
    ),
    "five megabytes": (BIG, None, False, {"id": "big"}),
    "malformed": (b'{"id" "a"}', "malformed", True, {"id": None}),
    "truncated": (WHOLE[:60], "malformed", True, {"id": None}),
    "array": (b'[{"id":"a"}]', "malformed", True, {"id": None}),
    "scalar": (b"17", "malformed", True, {"id": None}),
    "text": (b"hello", "malformed", True, {"id": None}),
    "literal null": (b"null", "malformed", True, {"id": None}),
    "empty": (b"", "malformed", True, {"id": None}),
    "invalid utf-8": (b'{"id":"\xff\xfe"}', "invalid utf-8", True, {"id": None}),
    "text for a number": (b'{"id":"a","count":"many"}', "wrong type", True, {"id": None}),
    "object for a number": (b'{"id":"a","count":{}}', "wrong type", True, {"id": None}),
    "text for an object": (b'{"id":"a","tags":"red"}', "wrong type", True, {"id": None}),
    "too large a number": (b'{"id":"a","amount":123456789.5}', "wrong type", True, {"id": None}),
    "not a time": (b'{"id":"a","made_at":"soon"}', "wrong type", True, {"id": None}),
    "number for a time": (b'{"id":"a","made_at":1709251200}', "wrong type", True, {"id": None}),
    "two objects": (b'{"id":"a"} {"id":"b"}', "malformed", True, {"id": None}),
    "two whole objects": (WHOLE + WHOLE, "malformed", True, {"id": None}),
    "null value": (None, "null value", False, {"id": None}),
}  # fmt: skip


class Named(RawTable, name="raw.named"):
    """raw.named: one row per record, whose names are not ours."""

    id = column("string", "Whose.")
    weight_g = column("int", "How heavy.", field="weightInGrams")
    also = ("mood",)


class AnyNamed(Named, name="raw.named"):
    """raw.named: one row per record, whatever else it has."""

    also = None


@pytest.mark.parametrize("contract", [Named, AnyNamed])
def test_a_column_may_have_another_name_and_a_known_field_no_column(
    lake: Lake, contract: type[RawTable]
) -> None:
    plain, moody = b'{"id":"a","weightInGrams":3}', b'{"weightInGrams":4,"mood":{"glad":true}}'
    found = rows_of(lake, notes("named", contract), plain, moody, b'{"weightInGrams":"heavy"}')
    assert [(row["weight_g"], row["_error"], row["_payload"]) for row in found] == [
        (3, None, None), (4, None, moody), (None, "wrong type", b'{"weightInGrams":"heavy"}'),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def parsed(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """All of RECORDS on one topic, ingested at once."""
    topic = make_topic("ingest_kinds")
    send(topic, *[r[0] for r in RECORDS.values()])
    with own_lake(tmp_path_factory.mktemp("kinds")) as lake:
        yield ingest(lake, notes(topic))


@pytest.fixture(scope="module")
def kinds(parsed: Outcome) -> dict[str, Row]:
    columns = (*parsed.table.contract.columns, COMMIT)
    by_offset = {r["kafka_offset"]: r for r in stored("raw.notes", *columns)}
    return {name: by_offset[n] for n, name in enumerate(RECORDS)}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_becomes_one_row(kinds: dict[str, Row], kind: str) -> None:
    value, error, kept, fields = RECORDS[kind]
    row = kinds[kind]
    assert row["_error"] == error
    assert row["_payload"] == (value if kept else None)
    assert {n: row[n] for n in fields} == fields


def test_a_row_tells_where_and_when_its_record_arrived(kinds: dict[str, Row]) -> None:
    for offset, row in enumerate(kinds.values()):
        place = (row["kafka_partition"], row["kafka_offset"], row["topic_generation"])
        assert place == (0, offset, 0)
        assert row["ingest_hour"] == hour_of(row["arrived_at"])
        assert now() - timedelta(minutes=30) < row["arrived_at"] <= now()


def test_rows_errors_and_offsets_of_a_batch_are_one_commit(
    parsed: Outcome, kinds: dict[str, Row]
) -> None:
    assert parsed.head is not None and len(parsed.published) == 1
    assert {r[COMMIT] for r in kinds.values()} == {1} == {parsed.head.stamp.commit}
    assert parsed.head.stamp.progress["next"] == {"0": len(RECORDS)}
    assert parsed.head.rows == len(RECORDS)
    errors = sum(r[1] is not None for r in RECORDS.values())
    assert parsed.published[0].tally["failed"] == {"parses": errors}
