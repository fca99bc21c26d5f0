import io
import json
from collections import Counter
from datetime import timedelta
from itertools import islice
from uuid import UUID

import pytest
from fastavro import parse_schema, schemaless_reader

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.lineage import FIRST_DAY, INTERVAL, Dirt, events
from lakehouse_assets.sources.lineage.dirt import KINDS
from lakehouse_assets.sources.lineage.events import SCHEMA


def run(count: int = 1_000, dirt: Dirt | None = None) -> list[Event]:
    return list(events(3, count, FIRST_DAY, dirt or Dirt.only()))


def test_a_record_is_the_schema_files_avro_and_nothing_else() -> None:
    schema = parse_schema(json.loads(SCHEMA.read_text()))
    for number, event in enumerate(run(20)):
        body = io.BytesIO(event.value or b"")
        told = schemaless_reader(body, schema, None)
        assert told["timestamp"] == event.made_ms, "milliseconds"
        assert event.made_ms == (FIRST_DAY + number * INTERVAL).timestamp() * 1000
        assert isinstance(told["uuid"], UUID) and told["uuid"].version == 4 and not body.read()


def test_the_same_arguments_give_the_same_bytes_and_fewer_are_the_beginning_of_more() -> None:
    assert run(500, Dirt()) == run(500, Dirt()) == run(900, Dirt())[:500]


def test_no_event_is_like_another_in_this_run_or_the_next() -> None:
    later = events(3, 1_000, FIRST_DAY + timedelta(days=1))
    values = [event.value for event in [*run(), *later]]
    assert len({*values}) == 2_000


def test_what_was_made_before_the_sending_begins_is_left_out() -> None:
    begin = FIRST_DAY + timedelta(seconds=2.05)
    live = list(islice(events(3, None, FIRST_DAY, Dirt(), sent_from=begin), 50))
    assert live == run(71, Dirt())[21:]
    assert len(list(events(3, 7, FIRST_DAY, sent_from=begin))) == 7


@pytest.mark.parametrize("kind", KINDS["lineage-input"])
def test_each_kind_of_dirt_comes_at_its_rate(kind: str) -> None:
    alone = Counter(e.kind for e in run(4_000, Dirt.only(**{kind: 0.05})))
    assert alone[kind] == pytest.approx(200, abs=2)


def test_rates_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to at most 1"):
        Dirt(undecodable=0.9, other_schema=0.2)
