"""The oracle sees what it is there for: what is lost, doubled, changed or made up."""

import ast
from datetime import datetime, timezone
from pathlib import Path

from lakehouse_assets.commands import compare, readback
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments.truth import Delivered

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


def test_the_comparison_sees_what_is_lost_doubled_wrong_and_made_up() -> None:
    want = [{"id": n, "value": n} for n in range(5)]
    have = [
        {"id": 1, "value": 1}, {"id": 1, "value": 1}, {"id": 2, "value": 9},
        {"id": 3, "value": 3}, {"id": 4, "value": 4}, {"id": 7, "value": 7},
    ]  # fmt: skip
    found = compare.compare("t", ("id",), have, want)
    assert (found.lost, found.duplicated, found.wrong) == (1, 1, 2)
    assert not found.is_equal
    assert found.examples[0] == "lost (0,)"


def test_an_entity_is_compared_by_its_first_record_whatever_its_id() -> None:
    index = [
        {"source": "stripe", "source_id": "1", "entity_id": "ent_a"},
        {"source": "shopify", "source_id": "9", "entity_id": "ent_a"},
        {"source": "shopify", "source_id": "2", "entity_id": "ent_b"},
    ]
    wanted = {"ent_a": ("shopify", "9"), "ent_b": ("shopify", "2")}
    assert compare.first_records(index) == compare.first_records(reversed(index)) == wanted


def held(*values: bytes | None) -> list[Delivered]:
    return [Delivered("t", 0, offset, NOON, None, value) for offset, value in enumerate(values)]


def sent(*values: bytes | None) -> readback.Sent:
    noted = readback.Sent()
    assert (
        len(list(noted.noting(Event(topic="t", key=None, value=v, kind="clean") for v in values)))
        == noted.count
    )
    return noted


def test_a_topic_that_holds_each_record_as_often_as_it_was_sent_is_as_sent() -> None:
    (found,) = sent(b"a", b"a", None).beside(held(b"a", None, b"a"))
    assert found.is_equal and found.table == "kafka.t"


def test_records_that_kafka_lost_doubled_or_made_up_are_seen_without_any_table() -> None:
    (found,) = sent(b"a", b"a", b"b", b"c").beside(held(b"a", b"b", b"b", b"d"))
    assert (found.lost, found.duplicated, found.wrong) == (2, 1, 1)
    assert found.examples == ["sent (4,) records, the topic holds 4"]


def test_only_what_came_since_is_compared_with_what_was_sent() -> None:
    records = [*held(b"a", b"b"), Delivered("t", 1, 0, NOON, None, b"c")]
    records.append(Delivered("u", 0, 0, NOON, None, b"d"))
    assert [r.value for r in readback.since(records, {("t", 0): 1})] == [b"b", b"c", b"d"]


def test_the_oracle_asks_nothing_of_the_engine() -> None:
    for module in (compare, readback):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        froms = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        ours = {name.split(".")[1] for name in froms if name.startswith("lakehouse_assets.")}
        assert ours <= {"sources", "services", "commands"}
