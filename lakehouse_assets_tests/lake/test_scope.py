"""Spans of time: what is touched, never too little, and few enough to write down."""

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.lake import scope
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets_tests.lake.tables import EVENTS, HOUR, Events, add, day, event
from lakehouse_assets_tests.support import rows

BEGIN = datetime(2024, 1, 1)
SPANS = st.lists(
    st.builds(
        lambda start, length: (BEGIN + start * HOUR, BEGIN + (start + length) * HOUR),
        st.integers(0, 20_000),
        st.integers(1, 50),
    ),
    max_size=300,
)


@given(spans=SPANS)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_merged_spans_cover_all_and_are_few_sorted_and_apart(spans: list[scope.Span]) -> None:
    merged = scope.merge(spans)
    assert len(merged) <= scope.MAX_SPANS
    assert all(any(a <= start and end <= b for a, b in merged) for start, end in spans)
    ends = [moment for span in merged for moment in span]
    assert ends == sorted(set(ends))


def test_few_spans_are_not_widened() -> None:
    apart = [(BEGIN + 2 * n * HOUR, BEGIN + (2 * n + 1) * HOUR) for n in range(scope.MAX_SPANS)]
    assert scope.merge(reversed(apart)) == apart


def test_a_span_up_to_midnight_does_not_touch_the_next_day() -> None:
    noon, midnight = BEGIN + 12 * HOUR, BEGIN + timedelta(days=1)
    assert scope.whole_days([(noon, midnight)]) == [(BEGIN, midnight)]
    assert scope.whole_days([(noon, midnight + HOUR)]) == [(BEGIN, midnight + timedelta(days=1))]


def test_rows_without_a_time_are_in_every_scope() -> None:
    assert scope.within("at", []) == "`at` is null"
    assert scope.within_days("on", []) == "`on` is null"


def test_spans_of_a_frame_are_its_hours_in_utc(lake: Lake) -> None:
    instants = [day(1) + timedelta(minutes=m) for m in (5, 55, 61, 300)]
    frame = rows(lake.spark, Events, *[event(n, "a", at=at) for n, at in enumerate(instants)])
    first = day(1).replace(tzinfo=None)
    assert scope.spans_of(frame, "at") == [
        (first, first + 2 * HOUR), (first + 5 * HOUR, first + 6 * HOUR),
    ]  # fmt: skip


def test_what_a_parents_commits_touched_is_known_only_if_all_of_them_say_so(lake: Lake) -> None:
    add(lake, EVENTS, event(1, "a"))
    add(lake, EVENTS, event(2, "a", at=day(3)))
    add(lake, EVENTS, event(3, "a", at=day(5)), stated=False)
    assert scope.touched(lake.catalog, "bare.events", 0) is None
    add(lake, EVENTS, event(4, "a", at=day(7)))
    start = day(7).replace(tzinfo=None)
    assert scope.touched(lake.catalog, "bare.events", 3) == ("at", [(start, start + HOUR)])
