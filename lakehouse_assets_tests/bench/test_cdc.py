"""What the bench of captured changes concludes from what it saw; never times."""

import os
import subprocess
import sys

from lakehouse_assets.bench import _lookout, cdc
from lakehouse_assets.bench._lookout import Seen
from lakehouse_assets.bench._stack import StackMeter
from lakehouse_assets.sources.storefront.truth.logged import Logged

BUSY = "import time; end = time.time() + 1.5\nwhile time.time() < end: pass"
STARTER = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"


def change(lsn: int, op: str, key: int = 1) -> Logged:
    return Logged("orders", lsn, op, (key,), float(lsn))


def seen(*changes: Logged, states: list[dict[int, int]]) -> Seen:
    """With a state a second, each by key as of which place in the log."""
    held = ({(key,): lsn for key, lsn in state.items()} for state in states)
    return _lookout._seen(changes, enumerate(held, 100))


def test_a_change_is_seen_with_the_first_state_as_of_it_or_of_a_later_one() -> None:
    changes = [change(5, "c"), change(6, "u"), change(7, "u")]
    found = seen(*changes, states=[{}, {1: 6}, {1: 6}, {1: 7}])
    assert [(one.lsn, at) for one, at in found.arrived] == [(5, 101), (6, 101), (7, 103)]
    assert not found.never and not found.short_lived


def test_a_deletion_is_seen_when_a_row_that_was_there_is_gone() -> None:
    changes = [change(5, "u"), change(6, "d")]
    found = seen(*changes, states=[{1: 4}, {1: 4}, {}])
    assert [(one.lsn, at) for one, at in found.arrived] == [(5, 102), (6, 102)]


def test_a_row_that_is_there_again_is_not_the_one_that_was_deleted() -> None:
    changes = [change(5, "d"), change(6, "c"), change(7, "d")]
    found = seen(*changes, states=[{1: 4}, {}, {}, {1: 6}, {}])
    assert [(one.lsn, at) for one, at in found.arrived] == [(5, 101), (6, 103), (7, 104)]


def test_what_came_and_went_unseen_is_told_apart_from_what_never_came() -> None:
    changes = [change(5, "c"), change(6, "d"), change(7, "c", key=2), change(8, "d", key=3)]
    found = seen(*changes, states=[{3: 4}, {3: 4}])
    assert [one.lsn for one in found.short_lived] == [5, 6]
    assert [one.lsn for one in found.never] == [7, 8]


def test_a_change_that_never_came_leaves_no_figure_that_flatters() -> None:
    found = Seen([(change(5, "c"), 6.0)], [change(6, "u")], [])
    steady, taken = cdc._steady(found, 2.0), cdc._taken(found, 5.0)
    assert (steady["events"], steady["p95_s"], steady["never_visible"]) == (2, None, 1)
    assert (taken["changes"], taken["changes_per_s"], taken["never_taken"]) == (2, None, 1)


def test_a_backlog_is_taken_when_its_last_change_is_seen() -> None:
    found = Seen([(change(5, "c"), 15.0), (change(6, "u"), 25.0)], [], [change(7, "c")])
    taken = cdc._taken(found, 10.0)
    assert (taken["changes"], taken["changes_per_s"], taken["backlog_s"]) == (3, 0.2, 15.0)


def test_what_a_service_starts_counts_as_its_own_even_when_it_has_ended() -> None:
    with (
        subprocess.Popen([sys.executable, "-c", STARTER]) as starter,
        StackMeter({"busy": starter.pid, "gone": 2**22 + 1}) as meter,
    ):
        starter.wait()
    assert set(meter.cpu_s) == {"busy"}
    assert 0.2 < meter.cpu_s["busy"] < 4
    assert meter.peak_mb > 5
    assert os.getpid() not in [pid for _, pid, _ in meter._last]
