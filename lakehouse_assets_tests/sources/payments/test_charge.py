import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from itertools import islice
from time import perf_counter
from typing import Any

import pytest

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import (
    CHARGES,
    FIRST_DAY,
    INTERVAL,
    Dirt,
    charges,
    distinct_charges,
)
from lakehouse_assets.sources.payments.dirt import KINDS as KINDS_OF
from lakehouse_assets.sources.payments.providers import CHARGE_STATUSES, IN_MINOR_UNITS
from lakehouse_assets.sources.payments.record import CHARGES as SHAPE

KINDS = sorted(KINDS_OF[CHARGES])
PENDING = {word for meanings in CHARGE_STATUSES.values() for word in meanings["pending"]}


def make(count: int, dirt: Dirt = Dirt.none(), **more: Any) -> list[Event]:  # noqa: B008
    return list(charges(seed=3, count=count, start=FIRST_DAY, dirt=dirt, **more))


def fields(event: Event) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(event.value or b"", parse_float=str)
    return read


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_the_same_arguments_give_the_same_bytes() -> None:
    assert make(3_000, Dirt()) == make(3_000, Dirt())


def test_fewer_records_are_the_beginning_of_more() -> None:
    endless = charges(seed=3, count=None, start=FIRST_DAY)
    assert list(islice(endless, 500)) == make(2_000, Dirt())[:500]


def test_another_seed_or_start_shares_no_event_and_no_charge() -> None:
    runs = [
        list(charges(1, 300, FIRST_DAY, Dirt.none())),
        list(charges(2, 300, FIRST_DAY, Dirt.none())),
        list(charges(1, 300, FIRST_DAY + timedelta(hours=1), Dirt.none())),
    ]
    for column in ("event_id", "charge_id"):
        ids = [{fields(event)[column] for event in run} for run in runs]
        assert len(set.union(*ids)) == sum(map(len, ids))


def test_a_start_in_another_zone_is_the_same_instant() -> None:
    start = FIRST_DAY.astimezone(timezone(timedelta(hours=5)))
    assert list(charges(3, 50, start)) == make(50, Dirt())


def test_a_start_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        next(charges(3, 1, datetime(2026, 1, 1)))


def test_without_dirt_every_record_is_a_clean_event_with_the_seed_columns() -> None:
    events = make(2_000)
    assert {event.kind for event in events} == {"clean"}
    assert all(tuple(fields(event)) == SHAPE.columns for event in events)
    assert len({fields(event)["event_id"] for event in events}) == 2_000
    assert {event.topic for event in events} == {CHARGES}
    assert all((event.key or b"").decode() == fields(event)["charge_id"] for event in events)


def test_a_charge_settles_in_one_to_three_events_and_keeps_its_created_at() -> None:
    charges_seen = defaultdict(list)
    for event in make(5_000):
        charges_seen[event.key].append(fields(event))
    assert {len(events) for events in charges_seen.values()} == {1, 2, 3}
    for events in charges_seen.values():
        updates = [event["updated_at"] for event in events]
        assert updates == sorted(set(updates))
        assert {event["created_at"] for event in events} == {updates[0]}
        assert {event["status"] for event in events[:-1]} <= PENDING
    finals = Counter(events[-1]["event_type"] for events in charges_seen.values())
    assert finals["charge.succeeded"] > finals["charge.failed"] > 0


def test_no_event_time_lies_after_the_instant_of_its_record_except_2099() -> None:
    events = make(20_000, Dirt(malformed=0, wrong_type=0, null_value=0))
    for number, event in enumerate(events):
        if event.kind != "far_future":
            made = FIRST_DAY + number * INTERVAL
            read = fields(event)
            assert instant(read["created_at"]) <= instant(read["updated_at"]) <= made


def test_amounts_are_as_the_provider_writes_them_and_never_pass_through_a_float() -> None:
    digits = defaultdict(set)
    for event in make(2_000):
        read = fields(event)
        digits[read["provider"].upper(), read["currency"]].add(
            len(str(read["amount"]).partition(".")[2])
        )
    for (provider, currency), seen in digits.items():
        assert seen == {0 if provider in IN_MINOR_UNITS or currency == "JPY" else 2}
    assert any(currency == "JPY" for _, currency in digits)


@pytest.mark.parametrize("kind", KINDS)
def test_dirt_comes_at_its_rate(kind: str) -> None:
    kinds = Counter(event.kind for event in make(2_000, Dirt.only(**{kind: 0.02})))
    assert abs(kinds[kind] - 40) <= 1
    assert set(kinds) == {"clean", kind}


def test_all_kinds_come_at_their_rates_together() -> None:
    kinds = Counter(event.kind for event in make(20_000, Dirt(oversized_bytes=2_000)))
    for kind, rate in Dirt().rates(CHARGES).items():
        assert abs(kinds[kind] - 20_000 * rate) <= 2, kind


@pytest.mark.parametrize("kind", KINDS)
def test_dirt_in_every_record_still_ends(kind: str) -> None:
    assert len(make(40, Dirt.only(**{kind: 1.0}, oversized_bytes=10))) == 40


def test_rates_that_exceed_the_whole_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to at most 1"):
        Dirt.only(duplicate=0.6, late=0.6)


def with_dirt(kind: str, **settings: Any) -> tuple[list[Event], list[Event]]:
    """All events of a run with this dirt only, and those of the kind."""
    events = make(400, Dirt.only(**{kind: 0.1}, **settings))
    return events, [event for event in events if event.kind == kind]


def test_a_duplicate_repeats_an_earlier_record_byte_for_byte() -> None:
    events, duplicates = with_dirt("duplicate")
    for event in duplicates:
        assert event.value in {earlier.value for earlier in events[: events.index(event)]}


def test_a_redelivery_and_a_tie_repeat_an_event_id_with_other_content() -> None:
    for kind, newer in (("redelivery", True), ("tie_event", False)):
        events, repeated = with_dirt(kind)
        first = {}
        for event in events:
            if event.kind == "clean":
                first[fields(event)["event_id"]] = fields(event)
        for event in repeated:
            again = fields(event)
            before = first[again["event_id"]]
            assert again != before
            assert again["created_at"] == before["created_at"]
            assert (again["updated_at"] > before["updated_at"]) is newer


def test_a_tied_charge_has_two_events_with_one_updated_at() -> None:
    events, tied = with_dirt("tie_state")
    versions = {(e.key, fields(e)["updated_at"]): fields(e) for e in events if e.kind == "clean"}
    for event in tied:
        other = versions[event.key, fields(event)["updated_at"]]
        assert other["event_id"] != fields(event)["event_id"]


def test_an_event_out_of_order_comes_after_a_newer_one_of_its_charge() -> None:
    events, overtaken = with_dirt("out_of_order")
    for event in overtaken:
        before = [e for e in events[: events.index(event)] if e.key == event.key]
        assert fields(before[-1])["updated_at"] > fields(event)["updated_at"]
        assert len(before) == 2


def test_a_late_event_was_made_minutes_to_days_ago() -> None:
    events, late = with_dirt("late")
    ages = [
        FIRST_DAY + events.index(event) * INTERVAL - instant(fields(event)["updated_at"])
        for event in late
    ]
    assert min(ages) >= timedelta(minutes=2)
    assert max(ages) > timedelta(days=1)
    assert max(ages) <= timedelta(days=3)


def test_malformed_records_take_turns_through_all_variants() -> None:
    _, records = with_dirt("malformed")
    values = [event.value or b"" for event in records]
    assert b"" in values
    assert any(value.startswith(b"[") for value in values)
    assert any(value.startswith(b"<") for value in values)
    assert any(b"\xff\xfe" in value for value in values)
    assert any(value.startswith(b"{") and not value.endswith(b"}") for value in values)
    assert set(values) & {b"42", b"true", b"null", b'"charge"'}


def test_missing_ids_are_absent_or_a_spelling_of_null() -> None:
    _, records = with_dirt("missing_event_id")
    spellings = {fields(event).get("event_id", "absent") for event in records}
    assert spellings == {"absent", None, "", "NULL"}
    _, records = with_dirt("missing_key")
    assert {event.key for event in records} == {None}


def test_unknown_fields_come_at_the_top_and_inside_metadata() -> None:
    _, records = with_dirt("unknown_field")
    assert any("loyalty" in fields(event) for event in records)
    assert any("utm_source" in fields(event)["metadata"] for event in records)


def test_an_oversized_record_has_the_size_that_was_set() -> None:
    _, records = with_dirt("oversized", oversized_bytes=50_000)
    assert all(50_000 < len(event.value or b"") < 52_000 for event in records)


def test_a_null_value_keeps_the_key_of_an_earlier_charge() -> None:
    events, records = with_dirt("null_value")
    for event in records:
        assert event.value is None
        assert event.key in {earlier.key for earlier in events[: events.index(event)]}


def test_distinct_charges_are_one_clean_event_each() -> None:
    count, size = 100_000, 0
    next(distinct_charges(5, 1, FIRST_DAY))  # the pools are made once
    ids, began = set(), perf_counter()
    for event in distinct_charges(5, count, FIRST_DAY):
        ids.add(event.key)
        size += len(event.value or b"")
    seconds = perf_counter() - began
    print(f"\n{count / seconds:,.0f} events/s, {size / count:.0f} bytes per event")
    assert len(ids) == count
    assert {event.kind for event in distinct_charges(5, 100, FIRST_DAY)} == {"clean"}
    assert 850 <= size / count <= 920
